# SPDX-License-Identifier: MIT
"""A jitted function and its gradient: XLA's autotuner launches kernels that wait for the host."""

import jax
import jax.numpy as jnp


@jax.jit
def loss(x, w):
    return jnp.tanh(x @ w).sum()


x = jnp.ones((512, 512))
w = jnp.full((512, 512), 0.001)
for step in range(3):
    w = w - 0.1 * jax.grad(loss, argnums=1)(x, w)
print(f"{float(loss(x, w)):.3f}")
