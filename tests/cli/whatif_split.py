# Writes a snapshot by hand: one segment of 64 MiB with live blocks of 4, 2 and 8 MiB between holes of 16, 14 and 20,
# and a request of 30 MiB that is refused: without the block of 2 MiB there would be room.
#
#     python3 whatif_split.py FILE
import pickle,sys
MB=1<<20; A=0x7f0000000000
def frames(l): return [{'name':'forward','filename':'net.py','line':l}]
ev=[];t=[1000]
def e(a,addr,size,l,stream=0):
    t[0]+=1; d={'action':a,'addr':addr,'size':size*MB,'stream':stream,'time_us':t[0],'frames':frames(l)}
    if a=='oom': d['device_free']=addr; del d['addr']
    ev.append(d)
def free(a,s,l): e('free_requested',a,s,l); e('free_completed',a,s,l)
e('segment_alloc',A,64,1); e('alloc',A,64,1); free(A,64,1)
sizes=[16,4,14,2,20,8]; at=A; where=[]
for i,s in enumerate(sizes):
    e('alloc',at,s,10+i); where.append((at,s,10+i)); at+=s*MB
for i in (0,2,4): free(*where[i])
e('oom',0,30,99)
blocks=[{'address':a,'size':s*MB,'requested_size':s*MB if i%2 else 0,'state':'active_allocated' if i%2 else 'inactive','frames':frames(l) if i%2 else []} for i,(a,s,l) in enumerate(where)]
seg={'device':0,'address':A,'total_size':64*MB,'stream':0,'segment_type':'large','segment_pool_id':(0,0),'is_expandable':False,'frames':[],'blocks':blocks}
pickle.dump({'segments':[seg],'device_traces':[ev]},open(sys.argv[1],'wb'),protocol=4)
