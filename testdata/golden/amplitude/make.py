#!/usr/bin/env python3
"""Writes numbers.json and classes.json beside this file: values of the model of docs/theory/views.md, from its definition alone.
Plain numpy and scipy: leave-one-out by deleting a sample, gradients by differences, the head and the modes by a general optimiser."""
import json, os
import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm, multivariate_normal

here = os.path.dirname(os.path.abspath(__file__))

def kernels(r, n):
    K, M = [], []
    for v in range(3):
        x = r.randn(n+3, 2+v)
        d = ((x[:, None]-x[None])**2).sum(2)
        for k in (np.exp(-d/(2*x.shape[1])), x@x.T):
            # centred in the feature space of the first n samples: (e_i − 1/n)ᵀ k (e_j − 1/n)
            T = np.eye(n+3); T[:, :n] -= 1/n
            k = T@k@T.T; k *= n/np.trace(k[:n, :n])
            K.append(k)
    return np.array(K)

def theta(z, kind, view, structure):
    J = len(kind); m = max(kind)+1; z = np.asarray(z)
    if structure == 'free': return np.r_[-np.log(J)+3*z[:J], np.log(.3)+2*z[J]]
    if structure == 'tied': return np.r_[-np.log(J)+3*z[0]+2*z[1+np.array(kind)], np.log(.3)+2*z[1+m]]
    u = z[2+m+J:]; lam = np.tan(np.pi/2*norm.cdf(u))
    return np.r_[-np.log(J)+3*z[0]+1.5*z[1+np.array(kind)]+.5*z[1+m:1+m+J]+2*np.log(lam[np.array(view)]), np.log(.3)+2*z[1+m+J]]

def cov(K, th, n, least=1e-8):
    return 1+np.tensordot(np.exp(th[:-1]), K[:, :n, :n], 1)+(np.exp(th[-1])+least)*np.eye(n)

def evidence(K, th, Y, w):
    n = Y.shape[1]; S = cov(K, th, n)
    return w*sum(multivariate_normal.logpdf(y, np.zeros(n), S) for y in Y)

def slope(f, x, h=1e-3):
    g = []
    for i in range(len(x)):
        e = np.zeros(len(x)); e[i] = h
        g.append((8*(f(x+e)-f(x-e))-(f(x+2*e)-f(x-2*e)))/(12*h))
    return g

def left_out(K, th, Y):
    n = Y.shape[1]; S = cov(K, th, n); M, V = np.zeros(Y.shape), np.zeros(n)
    for i in range(n):
        k = np.arange(n) != i; b = np.linalg.solve(S[np.ix_(k, k)], S[k, i])
        M[:, i] = Y[:, k]@b; V[i] = S[i, i]-S[i, k]@b
    return M, V

def case(seed, classes, n):
    r = np.random.RandomState(seed); K = kernels(r, n); J = len(K); view = [j//2 for j in range(J)]; kind = [j%2 for j in range(J)]
    f = np.linalg.cholesky(K[0, :n, :n]+K[3, :n, :n]+1e-6*np.eye(n))
    if classes:
        lab = (f@r.randn(n, classes)).argmax(1)
        for c in range(classes): lab[c] = c
        T = (lab[None] == np.arange(classes)[:, None]).astype(float); mu = T.mean(1, keepdims=True); Y = (T-mu)/np.sqrt(mu*(1-mu)); w = (classes-1)/classes
    else:
        y = f@r.randn(n)+.3*r.randn(n); Y = ((y-y.mean())/y.std())[None]; w = 1.
    out = dict(n=n, view=view, kind=kind, kernels=[k[:n, :n].tolist() for k in K], cross=[k[n:, :n].tolist() for k in K], self=[np.diag(k)[n:].tolist() for k in K], y=Y.tolist(), weight=w, structures={})
    for s, dims in (('free', J+1), ('tied', 4), ('sparse', 1+2+J+1+3)):
        z = .4*r.randn(dims); th = theta(z, kind, view, s); E = lambda z: evidence(K, theta(z, kind, view, s), Y, w); M, V = left_out(K, th, Y)
        S = cov(K, th, n); a = np.exp(th[:-1]); k = 1+np.tensordot(a, K[:, n:, :n], 1); B = np.linalg.solve(S, k.T)
        part = [np.tensordot(a[np.array(view) == v], K[np.array(view) == v][:, n, :n], 1) for v in range(3)]
        own = [float(a[np.array(view) == v]@K[np.array(view) == v][:, n, n]) for v in range(3)]
        P = np.array(part); C = np.diag(own)-P@np.linalg.solve(S, P.T)
        top = minimize(lambda z: .5*z@z-E(z), np.zeros(dims), method='BFGS', options=dict(gtol=1e-6))
        out['structures'][s] = dict(z=z.tolist(), theta=th.tolist(), evidence=float(E(z)), gradient=[float(x) for x in slope(E, z)], left_out_mean=M.tolist(), left_out_variance=V.tolist(),
            mean=(Y@B).tolist(), variance=[float(x) for x in 1+a@np.array([np.diag(q)[n:] for q in K])-(k*B.T).sum(1)+np.exp(th[-1])+1e-8], contribution=(Y@np.linalg.solve(S, P.T)).tolist(), covariance=C.tolist(), mode=float(-top.fun))
    if classes:
        pi = mu[:, 0]; sd = np.sqrt(pi*(1-pi)); sd = sd/sd.mean(); vb = V.mean()
        def prob(x, m, v):
            u = (np.exp(x[0])*m*sd[:, None]+x[1]*np.log(pi)[:, None])/np.sqrt(1+np.exp(x[2])*v/vb); u = u-u.max(0); p = np.exp(u); return p/p.sum(0)
        loss = lambda x: -np.log(prob(x, M, V)[lab, np.arange(n)]).sum()+(x[0]-.5)**2+(x[1]-.5)**2+.25*(x[2]+1)**2
        x = minimize(loss, [.5, .5, -1.], method='Nelder-Mead', options=dict(xatol=1e-9, fatol=1e-12, maxiter=5000)).x
        out.update(labels=lab.tolist(), head=dict(of='sparse', x=x.tolist(), probabilities=prob(x, M, V).T.tolist()))
    return out

for name, args in (('numbers', (1, 0, 14)), ('classes', (2, 3, 16))):
    json.dump(case(*args), open(os.path.join(here, name+'.json'), 'w'))
