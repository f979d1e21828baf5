# SPDX-License-Identifier: MIT
# 20 planted mistakes and the same programs without them, for --check. Line "HERE" has the mistake;
# in CuPy, whose source is a text, the line that launches the kernel.
T='''import torch, triton, triton.language as tl
'''
N='''import numpy as np
from numba import cuda, float32
'''
C='''import cupy as cp, numpy as np
'''
PROGRAMS={}
def add(name,src): PROGRAMS[name]=src
for bad in (True,False):
    b='bad' if bad else 'good'
    M='' if bad else ',mask=i<n'
    add(f't_store_mask_{b}',T+f'''@triton.jit
def k(x,o,n,B:tl.constexpr):
    i=tl.program_id(0)*B+tl.arange(0,B)
    v=tl.load(x+i,mask=i<n)
    tl.store(o+i,v{M}) # HERE
x=torch.ones(1000).cuda()
o=torch.empty(1000,device="cuda")
k[(1,)](x,o,1000,B=1024)
print(o.cpu()[0])
''')
    add(f't_load_mask_{b}',T+f'''@triton.jit
def k(x,o,n,B:tl.constexpr):
    i=tl.program_id(0)*B+tl.arange(0,B)
    v=tl.load(x+i{M}) # HERE
    tl.store(o+i,v,mask=i<n)
x=torch.ones(1000).cuda()
o=torch.empty(1000,device="cuda")
k[(1,)](x,o,1000,B=1024)
print(o.cpu()[0])
''')
    add(f't_stride_{b}',T+f'''@triton.jit
def k(x,o,s,B:tl.constexpr):
    r=tl.program_id(0)
    i=tl.arange(0,B)
    v=tl.load(x+r*s+i) # HERE
    tl.store(o+r*B+i,v)
x=torch.ones(8,64).cuda()
o=torch.empty(8,64,device="cuda")
k[(8,)](x,o,{96 if bad else 64},B=64)
print(o.cpu()[0,0])
''')
    add(f't_uninit_{b}',T+f'''@triton.jit
def k(x,o,B:tl.constexpr):
    i=tl.arange(0,B)
    v=tl.load(x+i) # HERE
    tl.store(o+i,v+1)
x=torch.{'empty(64,device="cuda")' if bad else 'ones(64).cuda()'}
o=torch.empty(64,device="cuda")
k[(1,)](x,o,B=64)
print(o.cpu()[0])
''')
    add(f't_race_{b}',T+f'''@triton.jit
def k(o,B:tl.constexpr):
    i=tl.arange(0,B)
    tl.store(o+i{'//2' if bad else ''},i) # HERE
o=torch.empty(64,dtype=torch.int32,device="cuda")
k[(1,)](o,B=64)
print(o.cpu()[0])
''')
    add(f't_negative_{b}',T+f'''@triton.jit
def k(x,o,B:tl.constexpr):
    i=tl.arange(0,B)
    v=tl.load(x+i-{1 if bad else 0}) # HERE
    tl.store(o+i,v)
x=torch.ones(64).cuda()
o=torch.empty(64,device="cuda")
k[(1,)](x,o,B=64)
print(o.cpu()[0])
''')
    add(f't_gather_{b}',T+f'''@triton.jit
def k(t,j,o,B:tl.constexpr):
    i=tl.arange(0,B)
    v=tl.load(t+tl.load(j+i)) # HERE
    tl.store(o+i,v)
t=torch.ones(10).cuda()
j=torch.tensor([{'1000' if bad else '9'}]*32).cuda()
o=torch.empty(32,device="cuda")
k[(1,)](t,j,o,B=32)
print(o.cpu()[0])
''')
    G='' if bad else '\n    if i < a.size:\n       '
    add(f'n_bounds_{b}',N+f'''@cuda.jit(lineinfo=True)
def k(a):
    i=cuda.grid(1){G if not bad else chr(10)+'   '} a[i]=i # HERE
a=cuda.device_array(1000,np.float32)
k[4,256](a)
print(a.copy_to_host()[0])
''')
    add(f'n_race_shared_{b}',N+f'''@cuda.jit(lineinfo=True)
def k(a):
    s=cuda.shared.array(64,float32)
    t=cuda.threadIdx.x
    s[t]=t
    {'pass' if bad else 'cuda.syncthreads()'}
    a[t]=s[63-t] # HERE
a=cuda.device_array(64,np.float32)
k[1,64](a)
print(a.copy_to_host()[0])
''')
    add(f'n_uninit_{b}',N+f'''@cuda.jit(lineinfo=True)
def k(a,o):
    t=cuda.threadIdx.x
    o[t]=a[t]+1 # HERE
a=cuda.{'device_array(64,np.float32)' if bad else 'to_device(np.zeros(64,np.float32))'}
o=cuda.device_array(64,np.float32)
k[1,64](a,o)
print(o.copy_to_host()[0])
''')
    add(f'n_stride_{b}',N+f'''@cuda.jit(lineinfo=True)
def k(a,s):
    x,y=cuda.grid(2)
    a[x*s+y]=1 # HERE
a=cuda.device_array(256,np.float32)
k[(2,2),(8,8)](a,{17 if bad else 16})
print(a.copy_to_host()[0])
''')
    add(f'n_negative_{b}',N+f'''@cuda.jit(lineinfo=True)
def k(a,o):
    i=np.uint64(cuda.grid(1))
    o[i]=a[i+{2000 if bad else 0}] # HERE
a=cuda.to_device(np.zeros(256,np.float32))
o=cuda.device_array(256,np.float32)
k[1,256](a,o)
print(o.copy_to_host()[0])
''')
    add(f'n_race_global_{b}',N+f'''@cuda.jit(lineinfo=True)
def k(a):
    i=cuda.grid(1)
    {'a[0]+=i' if bad else 'cuda.atomic.add(a,0,i)'} # HERE
a=cuda.to_device(np.zeros(4,np.float32))
k[2,64](a)
print(a.copy_to_host()[0])
''')
    add(f'n_race_neighbours_{b}',N+f'''@cuda.jit(lineinfo=True)
def k(a,o):
    i=cuda.grid(1)
    {'a' if bad else 'o'}[i]=a[i+1] # HERE
a=cuda.to_device(np.zeros(129,np.float32))
o=cuda.device_array(129,np.float32)
k[2,64](a,o)
print(a.copy_to_host()[0])
''')
    # CuPy: lines of the source string, and the launch line
    def c(name,code,call): add(f'c_{name}_{b}',C+f'k=cp.RawKernel(r"""{code}""","k")\n{call}\nprint(a.get()[0])\n')
    c('bounds','extern "C" __global__ void k(float*a,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;'+('' if bad else 'if(i<n)')+' a[i]=i;}','a=cp.empty(1024,cp.float32)\nk((5,),(256,),(a,np.int32(1024))) # HERE')
    c('race','extern "C" __global__ void k(float*a){__shared__ float s[64];int t=threadIdx.x;s[t]=t;'+('' if bad else '__syncthreads();')+'a[t]=s[63-t];}','a=cp.empty(64,cp.float32)\nk((1,),(64,),(a,)) # HERE')
    c('uninit','extern "C" __global__ void k(float*a,float*x){a[threadIdx.x]=x[threadIdx.x]+1;}',f'x=cp.{"empty" if bad else "zeros"}(128,cp.float32)\na=cp.empty(128,cp.float32)\nk((1,),(128,),(a,x)) # HERE')
    c('barrier','extern "C" __global__ void k(float*a){'+('if(threadIdx.x<32)' if bad else '')+'__syncthreads();a[threadIdx.x]=1;}','a=cp.empty(64,cp.float32)\nk((1,),(64,),(a,)) # HERE')
    c('atomic','extern "C" __global__ void k(int*a){'+('a[0]+=1;' if bad else 'atomicAdd(a,1);')+'}','a=cp.zeros(64,cp.int32)\nk((2,),(64,),(a,)) # HERE')
    c('misaligned','extern "C" __global__ void k(char*a){*(int*)(a+'+('1' if bad else '4')+')=3;}','a=cp.zeros(64,cp.int8)\nk((1,),(1,),(a,)) # HERE')
