# The network of examples/digits.tl in PyTorch: prints the CPU time of its loop and its accuracy. Argument: digits.csv.
import math
import sys
import time

import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1); torch.manual_seed(0)
t=torch.tensor(np.loadtxt(sys.argv[1],delimiter=',',dtype=np.float32))[torch.randperm(1797)]
x=(t[:,:64]/16).reshape(-1,1,8,8); y=t[:,64].long(); n=1797-360
class Net(nn.Module):
    def __init__(s):
        super().__init__(); s.a=nn.Conv2d(1,16,3,1,1); s.na=nn.BatchNorm2d(16); s.b=nn.Conv2d(16,32,3,1,1); s.nb=nn.BatchNorm2d(32); s.d=nn.Dropout(.25); s.l=nn.Linear(128,10)
    def forward(s,x):
        x=nn.functional.max_pool2d(s.na(s.a(x)).relu(),2); x=nn.functional.max_pool2d(s.nb(s.b(x)).relu(),2)
        return s.l(s.d(x.flatten(1)))
net=Net(); opt=torch.optim.AdamW(net.parameters(),lr=0.01)
t0=time.process_time()
for step in range(800):
    lr=0.01*(step+1)/20 if step<20 else 0.01*(1+math.cos(math.pi*(step-20)/800))/2
    for g in opt.param_groups: g['lr']=lr
    i=torch.randint(0,n,(64,)); loss=nn.functional.cross_entropy(net(x[i]),y[i]); opt.zero_grad(); loss.backward(); opt.step()
    if step%50==49:
        net.eval()
        with torch.no_grad(): acc=(net(x[n:]).argmax(1)==y[n:]).float().mean().item()
        net.train()
print("train cpu",time.process_time()-t0,acc)
