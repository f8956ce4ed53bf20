"""Writes kinds.json: python3 make_kinds.py 15000. See README.md."""
import numpy as np, json, sys
rng=np.random.default_rng(5)
N,Q,M=24,15,2
kinds=np.repeat([1,0,2],5)   # bernoulli, gaussian, poisson
s2=0.5; noise=0.25
sp=lambda f:np.logaddexp(0,f)
sig=lambda f:1/(1+np.exp(-f))
Phi=rng.normal(size=(N,M)); W=rng.normal(size=(Q,M))*1.2
F=Phi@W.T
F[:,kinds==2]+=0
Y=np.where(kinds==1,rng.random((N,Q))<sig(F),np.where(kinds==0,F+np.sqrt(noise)*rng.normal(size=(N,Q)),rng.poisson(sp(F)))).astype(float)
b,g,p=kinds==1,kinds==0,kinds==2
def logp(x):
    Ph=x[:N*M].reshape(N,M); w=x[N*M:].reshape(Q,M)
    f=Ph@w.T
    s=sp(f); ls=np.where(f<-30,f,np.log(s))
    ll=np.where(b,Y*f-s,np.where(g,-.5*(Y-f)**2/noise,Y*ls-s)).sum()
    r=sig(f)
    d=np.where(b,Y-r,np.where(g,(Y-f)/noise,Y*r/s-r))
    return ll-.5*(Ph**2).sum()-.5*(w**2).sum()/s2, np.concatenate([(d@w-Ph).ravel(),(d.T@Ph-w/s2).ravel()]), f
acc=0;n=0
means=[]
T=int(sys.argv[1]);L=25;eps=0.05
for chain in range(2):
    x=rng.normal(size=(N+Q)*M)*.3
    lp,gr,f=logp(x); sf=np.zeros((N,Q)); sf2=np.zeros((N,Q)); sm=np.zeros((N,Q)); cnt=0
    for t in range(T):
        v=rng.normal(size=x.size); h=lp-.5*v@v
        y=x.copy();gy=gr; e=eps*rng.uniform(.8,1.2)
        for l in range(L):
            v=v+.5*e*gy; y=y+e*v; lpy,gy,fy=logp(y); v=v+.5*e*gy
        n+=1
        if np.log(rng.random())<lpy-.5*v@v-h: x,lp,gr,f=y,lpy,gy,fy;acc+=1
        if t>=T//10:
            cnt+=1; sf+=f; sf2+=f*f; sm+=np.where(b,sig(f),np.where(g,f,sp(f)))
    m=sf/cnt; means.append((m,np.sqrt(sf2/cnt-m*m),sm/cnt))
print(acc/n, [np.abs(means[0][i]-means[1][i]).max() for i in range(3)],file=sys.stderr)
out=[(means[0][i]+means[1][i])/2 for i in range(3)]
r=lambda a:[[round(float(x),4) for x in row] for row in a]
json.dump(dict(source="Hamiltonian Monte Carlo in numpy: two chains of %d trajectories of %d steps, the first tenth dropped. Factors N(0,1), weights N(0,%g), no offsets, noise variance %g of Gaussian columns. Poisson columns have the mean log(1+exp f)."%(T,L,s2,noise),
 kinds=[["gaussian","bernoulli","poisson"][k] for k in kinds],variance=s2,noise=noise,y=r(Y),function=r(out[0]),sd=r(out[1]),mean=r(out[2]),between=[float(np.abs(means[0][i]-means[1][i]).max()) for i in range(3)]),open('kinds.json','w'))
