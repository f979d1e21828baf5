# SPDX-License-Identifier: MIT
# Triton kernels, each a script of its own that asserts what PyTorch computes on the CPU.
PROGRAMS={}
head='''import torch, triton, triton.language as tl
torch.manual_seed(1)
def close(a,b,t=1e-5): assert torch.allclose(a.cpu().float(),b.float(),t,t),(a.cpu(),b)
'''
def w(n,b): PROGRAMS[n]=head+b+'print("right")\n'
# elementwise
E={'relu':('tl.maximum(x,0.)','torch.relu(x)'),'sigmoid':('tl.sigmoid(x)','torch.sigmoid(x)'),'silu':('x*tl.sigmoid(x)','torch.nn.functional.silu(x)'),
'gelu':('0.5*x*(1+tl.erf(x*0.7071067811865476))','torch.nn.functional.gelu(x)'),'exp':('tl.exp(x)','x.exp()'),'log':('tl.log(tl.abs(x)+1)','(x.abs()+1).log()'),
'sincos':('tl.sin(x)+tl.cos(x)','x.sin()+x.cos()'),'rsqrt':('tl.rsqrt(x*x+1)','(x*x+1).rsqrt()'),'where':('tl.where(x>0,x,x*0.1)','torch.nn.functional.leaky_relu(x,0.1)'),
'floor':('tl.floor(x*3)','(x*3).floor()'),'clamp':('tl.clamp(x,-0.5,0.5)','x.clamp(-0.5,0.5)'),'fma':('tl.fma(x,x,1.0)','x*x+1'),'cast_int':('(x*10).to(tl.int32).to(tl.float32)','(x*10).int().float()'),
'fp16':('x.to(tl.float16).to(tl.float32)*2','x.half().float()*2'),'bf16':('x.to(tl.bfloat16).to(tl.float32)','x.bfloat16().float()'),'elu':('tl.where(x>0,x,tl.exp(x)-1)','torch.nn.functional.elu(x)'),
'tanh':('2*tl.sigmoid(2*x)-1','x.tanh()'),'fp8':('x.to(tl.float8e4nv).to(tl.float32)','x.to(torch.float8_e4m3fn).float()'),'div':('x/(x*x+2)','x/(x*x+2)'),'exp2':('tl.exp2(x)','torch.exp2(x)')}
for n,(k,r) in E.items():
    w('e_'+n,f'''@triton.jit
def k(x_ptr,o_ptr,n,B:tl.constexpr):
    i=tl.program_id(0)*B+tl.arange(0,B); m=i<n
    x=tl.load(x_ptr+i,mask=m,other=0.)
    tl.store(o_ptr+i,{k},mask=m)
x=torch.randn(3000); d=x.cuda(); o=torch.empty_like(d)
k[(triton.cdiv(3000,256),)](d,o,3000,B=256); close(o,{r},1e-4)
''')
# row reductions
Rr={'sum':('tl.sum(x,0)','x.sum(1)','0.'),'max':('tl.max(x,0)','x.max(1).values',"-float('inf')"),'min':('tl.min(x,0)','x.min(1).values',"float('inf')"),
'argmax':('tl.argmax(x,0).to(tl.float32)','x.argmax(1)',"-float('inf')"),'l2':('tl.sqrt(tl.sum(x*x,0))','x.norm(dim=1)','0.'),'logsumexp':('tl.log(tl.sum(tl.exp(x),0))','x.logsumexp(1)',"-float('inf')"),
'mean':('tl.sum(x,0)/n','x.mean(1)','0.'),'xor':('tl.xor_sum(x.to(tl.int32),0).to(tl.float32)','__import__("functools").reduce(lambda a,b:a^b,[c for c in x.int().T])','0.'),
'custom':('tl.reduce(x,0,comb)','x.sum(1)','0.')}
for n,(k,r,o) in Rr.items():
    w('r_'+n,f'''@triton.jit
def comb(a,b): return a+b
@triton.jit
def k(x_ptr,o_ptr,n,B:tl.constexpr):
    r=tl.program_id(0); i=tl.arange(0,B)
    x=tl.load(x_ptr+r*n+i,mask=i<n,other={o})
    tl.store(o_ptr+r,{k})
x=torch.randn(20,200)*5; d=x.cuda(); o=torch.empty(20,device="cuda")
k[(20,)](d,o,200,B=256); close(o,{r},1e-4)
''')
# row -> row
S={'softmax':("e=tl.exp(x-tl.max(x,0)); y=e/tl.sum(e,0)",'x.softmax(1)'),'logsoftmax':("x=x-tl.max(x,0); y=x-tl.log(tl.sum(tl.exp(x),0))",'x.log_softmax(1)'),
'cumsum':("y=tl.cumsum(tl.where(i<n,x,0.),0)",'x.cumsum(1)'),'sort':("y=tl.sort(x)",'torch.cat([x.sort(1).values],1)'),
'layernorm':("x=tl.where(i<n,x,0.); mu=tl.sum(x,0)/n; v=tl.where(i<n,x-mu,0.); y=v/tl.sqrt(tl.sum(v*v,0)/n+1e-5)",'torch.nn.functional.layer_norm(x,(n,))'),
'rmsnorm':("x=tl.where(i<n,x,0.); y=x*tl.rsqrt(tl.sum(x*x,0)/n+1e-5)",'x*torch.rsqrt((x*x).mean(1,keepdim=True)+1e-5)'),
'flip':("y=tl.flip(x,0)",'x.flip(1)'),'scan_max':("y=tl.associative_scan(x,0,mx)",'x.cummax(1).values')}
for n,(k,r) in S.items():
    N=256 if n in('sort','flip') else 200
    w('s_'+n,f'''@triton.jit
def mx(a,b): return tl.maximum(a,b)
@triton.jit
def k(x_ptr,o_ptr,n,B:tl.constexpr):
    r=tl.program_id(0); i=tl.arange(0,B)
    x=tl.load(x_ptr+r*n+i,mask=i<n,other=-float('inf'))
    {k}
    tl.store(o_ptr+r*n+i,y,mask=i<n)
n={N}; x=torch.randn(20,n); d=x.cuda(); o=torch.empty_like(d)
k[(20,)](d,o,n,B=256); close(o,{r},1e-4)
''')
# matmul family
def mm(n,dt,tol,extra='',prec='ieee',act='',ref='a.float()@b.float()',warps=4,stages=2):
    w('m_'+n,f'''@triton.jit
def k(a_ptr,b_ptr,c_ptr,M,N,K,BM:tl.constexpr,BN:tl.constexpr,BK:tl.constexpr):
    rm=tl.program_id(0)*BM+tl.arange(0,BM); rn=tl.program_id(1)*BN+tl.arange(0,BN); rk=tl.arange(0,BK)
    acc=tl.zeros((BM,BN),tl.float32)
    for q in range(0,tl.cdiv(K,BK)):
        a=tl.load(a_ptr+rm[:,None]*K+(q*BK+rk)[None,:],mask=(rm[:,None]<M)&((q*BK+rk)[None,:]<K),other=0.)
        b=tl.load(b_ptr+(q*BK+rk)[:,None]*N+rn[None,:],mask=((q*BK+rk)[:,None]<K)&(rn[None,:]<N),other=0.)
        acc=tl.dot(a,b,acc,input_precision="{prec}")
    {act}
    tl.store(c_ptr+rm[:,None]*N+rn[None,:],acc,mask=(rm[:,None]<M)&(rn[None,:]<N))
M,N,K=96,80,112
a=torch.randn(M,K).to({dt}); b=torch.randn(K,N).to({dt}); c=torch.empty(M,N,device="cuda")
k[(triton.cdiv(M,64),triton.cdiv(N,64))](a.cuda(),b.cuda(),c,M,N,K,BM=64,BN=64,BK=32,num_warps={warps},num_stages={stages}); close(c,{ref},{tol})
''')
mm('fp32','torch.float32',1e-4); mm('tf32','torch.float32',1e-1,prec='tf32'); mm('tf32x3','torch.float32',1e-3,prec='tf32x3'); mm('fp16','torch.float16',1e-2); mm('bf16','torch.bfloat16',1e-2)
mm('fp16_warps8','torch.float16',1e-2,warps=8); mm('fp16_stages4','torch.float16',1e-2,stages=4); mm('fp16_relu','torch.float16',1e-2,act='acc=tl.maximum(acc,0.)',ref='(a.float()@b.float()).relu()'); mm('fp16_warp1','torch.float16',1e-2,warps=1)
mm('fp8','torch.float8_e4m3fn',1e-1)
O={
'transpose':'''@triton.jit
def k(x,o,M,N,B:tl.constexpr):
    r=tl.program_id(0)*B+tl.arange(0,B); c=tl.program_id(1)*B+tl.arange(0,B)
    v=tl.load(x+r[:,None]*N+c[None,:]); tl.store(o+c[:,None]*M+r[None,:],tl.trans(v))
x=torch.randn(64,96); o=torch.empty(96,64,device="cuda"); k[(2,3)](x.cuda(),o,64,96,B=32); close(o,x.T)
''','dropout':'''@triton.jit
def k(x,o,n,p,seed,B:tl.constexpr):
    i=tl.program_id(0)*B+tl.arange(0,B); r=tl.rand(seed,i); v=tl.load(x+i,mask=i<n)
    tl.store(o+i,tl.where(r>p,v/(1-p),0.),mask=i<n)
x=torch.ones(4000); o=torch.empty(4000,device="cuda"); k[(16,)](x.cuda(),o,4000,0.5,123,B=256); m=o.cpu(); assert set(m.unique().tolist())=={0.,2.} and .45<(m>0).float().mean()<.55
''','atomic_add':'''@triton.jit
def k(x,o,n,B:tl.constexpr):
    i=tl.program_id(0)*B+tl.arange(0,B); tl.atomic_add(o,tl.sum(tl.load(x+i,mask=i<n,other=0.),0))
x=torch.randn(2000); o=torch.zeros(1).cuda(); k[(8,)](x.cuda(),o,2000,B=256); close(o,x.sum()[None],1e-3)
''','histogram':'''@triton.jit
def k(x,o,B:tl.constexpr): tl.store(o+tl.arange(0,16),tl.histogram(tl.load(x+tl.arange(0,B)),16))
x=torch.randint(0,16,(512,),dtype=torch.int32); o=torch.empty(16,dtype=torch.int32,device="cuda"); k[(1,)](x.cuda(),o,B=512); close(o,torch.bincount(x,minlength=16))
''','attention':'''@triton.jit
def k(q,kk,v,o,N,s,D:tl.constexpr,BM:tl.constexpr,BN:tl.constexpr,C:tl.constexpr):
    rm=tl.program_id(0)*BM+tl.arange(0,BM); d=tl.arange(0,D); h=tl.program_id(1)*N*D
    Q=tl.load(q+h+rm[:,None]*D+d[None,:]); m=tl.full((BM,),-float("inf"),tl.float32); l=tl.zeros((BM,),tl.float32); a=tl.zeros((BM,D),tl.float32)
    hi=(tl.program_id(0)+1)*BM if C else N
    for j in range(0,hi,BN):
        rn=j+tl.arange(0,BN); K=tl.load(kk+h+rn[None,:]*D+d[:,None]); S=tl.dot(Q,K)*s
        if C: S=tl.where(rm[:,None]>=rn[None,:],S,-float("inf"))
        mn=tl.maximum(m,tl.max(S,1)); p=tl.exp(S-mn[:,None]); f=tl.exp(m-mn); l=l*f+tl.sum(p,1)
        a=a*f[:,None]+tl.dot(p.to(tl.float16),tl.load(v+h+rn[:,None]*D+d[None,:])); m=mn
    tl.store(o+h+rm[:,None]*D+d[None,:],a/l[:,None])
q,K,v=(torch.randn(2,128,64).half() for _ in range(3)); 
for C in (False,True):
    o=torch.empty(2,128,64,device="cuda"); k[(2,2)](q.cuda(),K.cuda(),v.cuda(),o,128,0.125,D=64,BM=64,BN=64,C=C)
    close(o,torch.nn.functional.scaled_dot_product_attention(q.float(),K.float(),v.float(),is_causal=C),1e-2)
''','grouped_gemm':'''@triton.jit
def k(a,b,c,sz,G,BM:tl.constexpr,BN:tl.constexpr,BK:tl.constexpr):
    t=tl.program_id(0); last=0
    for g in range(G):
        M=tl.load(sz+3*g); N=tl.load(sz+3*g+1); K=tl.load(sz+3*g+2); nt=tl.cdiv(M,BM)*tl.cdiv(N,BN)
        while t>=last and t<last+nt:
            A=tl.load(a+g).to(tl.pointer_type(tl.float16)); Bp=tl.load(b+g).to(tl.pointer_type(tl.float16)); Cp=tl.load(c+g).to(tl.pointer_type(tl.float32))
            u=t-last; rm=(u//tl.cdiv(N,BN))*BM+tl.arange(0,BM); rn=(u%tl.cdiv(N,BN))*BN+tl.arange(0,BN); rk=tl.arange(0,BK); acc=tl.zeros((BM,BN),tl.float32)
            for q in range(0,K,BK): acc+=tl.dot(tl.load(A+rm[:,None]*K+(q+rk)[None,:]),tl.load(Bp+(q+rk)[:,None]*N+rn[None,:]))
            tl.store(Cp+rm[:,None]*N+rn[None,:],acc); t+=tl.num_programs(0)
        last+=nt
S=[(64,64,32),(128,64,64),(64,128,96)]; A=[torch.randn(m,q).half() for m,n,q in S]; B=[torch.randn(q,n).half() for m,n,q in S]
dA=[x.cuda() for x in A]; dB=[x.cuda() for x in B]; dC=[torch.empty(m,n,device="cuda") for m,n,q in S]; P=lambda l:torch.tensor([x.data_ptr() for x in l]).cuda()
k[(3,)](P(dA),P(dB),P(dC),torch.tensor(S,dtype=torch.int32).cuda(),3,BM=64,BN=64,BK=32)
for x,y,z in zip(A,B,dC): close(z,x.float()@y.float(),1e-2)
''','tensor_descriptor':'''@triton.jit
def k(x,o,B:tl.constexpr):
    i=tl.program_id(0)*B; o.store([i,0],x.load([i,0])+1)
from triton.tools.tensor_descriptor import TensorDescriptor as T
x=torch.randn(64,64); o=torch.zeros(64,64).cuda(); d=x.cuda(); k[(2,)](T.from_tensor(d,[32,64]),T.from_tensor(o,[32,64]),B=32); close(o,x+1)
''','tma_matmul':'''@triton.jit
def k(a,b,c,K,BM:tl.constexpr,BN:tl.constexpr,BK:tl.constexpr):
    m=tl.program_id(0)*BM; n=tl.program_id(1)*BN; acc=tl.zeros((BM,BN),tl.float32)
    for q in range(0,K,BK): acc=tl.dot(a.load([m,q]),b.load([q,n]),acc)
    c.store([m,n],acc)
from triton.tools.tensor_descriptor import TensorDescriptor as T
a=torch.randn(128,64).half(); b=torch.randn(64,128).half(); c=torch.zeros(128,128).cuda(); dA,dB=a.cuda(),b.cuda()
k[(2,2)](T.from_tensor(dA,[64,32]),T.from_tensor(dB,[32,64]),T.from_tensor(c,[64,64]),64,BM=64,BN=64,BK=32); close(c,a.float()@b.float(),1e-2)
''','libdevice':'''from triton.language.extra import libdevice
@triton.jit
def k(x,o,B:tl.constexpr): i=tl.arange(0,B); tl.store(o+i,libdevice.asin(tl.load(x+i)))
x=torch.rand(128); o=torch.empty(128,device="cuda"); k[(1,)](x.cuda(),o,B=128); close(o,x.asin(),1e-4)
''','autotune':'''@triton.autotune([triton.Config({"B":64}),triton.Config({"B":128})],key=["n"])
@triton.jit
def k(x,o,n,B:tl.constexpr):
    i=tl.program_id(0)*B+tl.arange(0,B); tl.store(o+i,tl.load(x+i,mask=i<n)*3,mask=i<n)
x=torch.randn(500); o=torch.empty(500,device="cuda"); k[lambda m:(triton.cdiv(500,m["B"]),)](x.cuda(),o,500); close(o,x*3)
''','embedding':'''@triton.jit
def k(t,i,o,D:tl.constexpr):
    r=tl.program_id(0); d=tl.arange(0,D); tl.store(o+r*D+d,tl.load(t+tl.load(i+r)*D+d))
t=torch.randn(50,64); i=torch.randint(0,50,(33,)); o=torch.empty(33,64,device="cuda"); k[(33,)](t.cuda(),i.cuda(),o,D=64); close(o,t[i])
''','cross_entropy':'''@triton.jit
def k(x,y,o,n,B:tl.constexpr):
    r=tl.program_id(0); i=tl.arange(0,B); v=tl.load(x+r*n+i,mask=i<n,other=-float("inf")); m=tl.max(v,0)
    tl.store(o+r,m+tl.log(tl.sum(tl.exp(v-m),0))-tl.load(x+r*n+tl.load(y+r)))
x=torch.randn(30,100); y=torch.randint(0,100,(30,)); o=torch.empty(30,device="cuda"); k[(30,)](x.cuda(),y.cuda(),o,100,B=128); close(o,torch.nn.functional.cross_entropy(x,y,reduction="none"),1e-4)
''','conv1d':'''@triton.jit
def k(x,w,o,n,W:tl.constexpr,B:tl.constexpr):
    i=tl.program_id(0)*B+tl.arange(0,B); a=tl.zeros((B,),tl.float32)
    for j in tl.static_range(W): a+=tl.load(x+i+j,mask=i+j<n,other=0.)*tl.load(w+j)
    tl.store(o+i,a,mask=i<n-W+1)
x=torch.randn(300); f=torch.randn(5); o=torch.empty(296,device="cuda"); k[(3,)](x.cuda(),f.cuda(),o,300,W=5,B=128); close(o,torch.nn.functional.conv1d(x[None,None],f[None,None])[0,0],1e-4)
''','rotary':'''@triton.jit
def k(x,c,s,o,D:tl.constexpr):
    r=tl.program_id(0); i=tl.arange(0,D//2); a=tl.load(x+r*D+i); b=tl.load(x+r*D+D//2+i); C=tl.load(c+r*(D//2)+i); S=tl.load(s+r*(D//2)+i)
    tl.store(o+r*D+i,a*C-b*S); tl.store(o+r*D+D//2+i,b*C+a*S)
x=torch.randn(16,64); g=torch.randn(16,32); o=torch.empty(16,64,device="cuda"); k[(16,)](x.cuda(),g.cos().cuda(),g.sin().cuda(),o,D=64); a,b=x.chunk(2,1); close(o,torch.cat([a*g.cos()-b*g.sin(),b*g.cos()+a*g.sin()],1),1e-4)
''','gather':'''@triton.jit
def k(x,i,o,B:tl.constexpr): r=tl.arange(0,B); tl.store(o+r,tl.gather(tl.load(x+r),tl.load(i+r),0))
x=torch.randn(128); i=torch.randperm(128).int(); o=torch.empty(128,device="cuda"); k[(1,)](x.cuda(),i.cuda(),o,B=128); close(o,x[i.long()])
''','atomic_cas_lock':'''@triton.jit
def k(l,o,B:tl.constexpr):
    while tl.atomic_cas(l,0,1)==1: pass
    tl.store(o,tl.load(o)+1); tl.debug_barrier(); tl.atomic_xchg(l,0)
l=torch.zeros(1,dtype=torch.int32).cuda(); o=torch.zeros(1).cuda(); k[(20,)](l,o,B=1); close(o,torch.tensor([20.]))
''','device_print_assert':'''@triton.jit
def k(x,B:tl.constexpr):
    i=tl.arange(0,B); v=tl.load(x+i); tl.device_assert(v>=0,"neg"); tl.store(x+i,v+1)
x=torch.zeros(32).cuda(); k[(1,)](x,B=32,debug=True); close(x,torch.ones(32))
''','inline_asm':'''@triton.jit
def k(x,o,B:tl.constexpr):
    i=tl.arange(0,B); tl.store(o+i,tl.inline_asm_elementwise("shl.b32 $0, $1, 2;","=r,r",[tl.load(x+i)],dtype=tl.int32,is_pure=True,pack=1))
x=torch.arange(64,dtype=torch.int32); o=torch.empty_like(x,device="cuda"); k[(1,)](x.cuda(),o,B=64); close(o,x*4)
''','int8_matmul':'''@triton.jit
def k(a,b,c,B:tl.constexpr): r=tl.arange(0,B); i=r[:,None]*B+r[None,:]; tl.store(c+i,tl.dot(tl.load(a+i),tl.load(b+i),out_dtype=tl.int32))
a=torch.randint(-9,9,(64,64),dtype=torch.int8); b=torch.randint(-9,9,(64,64),dtype=torch.int8); c=torch.empty(64,64,dtype=torch.int32,device="cuda"); k[(1,)](a.cuda(),b.cuda(),c,B=64); close(c,a.int()@b.int())
''','welford':'''@triton.jit
def comb(m1,v1,n1,m2,v2,n2):
    n=n1+n2; d=m2-m1; r=tl.where(n>0,n2/n,0.); return m1+d*r, v1+v2+d*d*n1*r, n
@triton.jit
def k(x,o,B:tl.constexpr):
    i=tl.arange(0,B); v=tl.load(x+i); m,s,n=tl.reduce((v,tl.zeros((B,),tl.float32),tl.full((B,),1.,tl.float32)),0,comb); tl.store(o,m); tl.store(o+1,s/n)
x=torch.randn(256); o=torch.empty(2,device="cuda"); k[(1,)](x.cuda(),o,B=256); close(o,torch.stack([x.mean(),x.var(unbiased=False)]),1e-4)
''','join_split':'''@triton.jit
def k(x,o,B:tl.constexpr):
    i=tl.arange(0,B); a,b=tl.split(tl.reshape(tl.load(x+i),(B//2,2))); tl.store(o+i,tl.reshape(tl.join(b,a),(B,)))
x=torch.randn(64); o=torch.empty(64,device="cuda"); k[(1,)](x.cuda(),o,B=64); close(o,x.view(32,2).flip(1).reshape(64))
''','persistent_matmul':'''@triton.jit
def k(a,b,c,M,N,K,BM:tl.constexpr,BN:tl.constexpr,BK:tl.constexpr):
    nt=tl.cdiv(M,BM)*tl.cdiv(N,BN)
    for t in tl.range(tl.program_id(0),nt,tl.num_programs(0),flatten=True):
        rm=(t//tl.cdiv(N,BN))*BM+tl.arange(0,BM); rn=(t%tl.cdiv(N,BN))*BN+tl.arange(0,BN); rk=tl.arange(0,BK); acc=tl.zeros((BM,BN),tl.float32)
        for q in range(0,K,BK): acc=tl.dot(tl.load(a+rm[:,None]*K+(q+rk)[None,:]),tl.load(b+(q+rk)[:,None]*N+rn[None,:]),acc)
        tl.store(c+rm[:,None]*N+rn[None,:],acc)
a=torch.randn(128,64).half(); b=torch.randn(64,192).half(); c=torch.empty(128,192,device="cuda"); k[(2,)](a.cuda(),b.cuda(),c,128,192,64,BM=64,BN=64,BK=32); close(c,a.float()@b.float(),1e-2)
'''}
for n,b in O.items(): w('o_'+n,b)
