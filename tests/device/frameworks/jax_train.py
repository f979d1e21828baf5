# SPDX-License-Identifier: MIT
"""A jitted step of training: XLA's autotuner tries kernels of its own while it compiles."""

import jax
import jax.numpy as jnp


@jax.jit
def step(weights, x, y):
    def loss(weights):
        hidden = jnp.tanh(x @ weights[0])
        return jnp.mean((jax.nn.softmax(hidden @ weights[1]) - y) ** 2)

    value, gradients = jax.value_and_grad(loss)(weights)
    return value, [weight - 0.1 * gradient for weight, gradient in zip(weights, gradients)]


keys = jax.random.split(jax.random.PRNGKey(0), 4)
x, y = jax.random.normal(keys[0], (256, 512)), jax.nn.one_hot(jnp.arange(256) % 64, 64)
weights = [jax.random.normal(keys[1], (512, 512)) * 0.05, jax.random.normal(keys[2], (512, 64)) * 0.05]
for _ in range(5):
    value, weights = step(weights, x, y)
print(f"{float(value):.4f}", f"{float(jnp.sort(x[0])[0]):.3f}")
