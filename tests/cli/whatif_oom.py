# Writes a snapshot by hand: three segments, each pinned by a small live block, and a request that none of their holes
# can hold.
#
#     python3 whatif_oom.py FILE [PROTOCOL]
import pickle,sys
MB=1<<20
def frames(line): return [{'name':'torch::unwind::unwind()','filename':'??','line':0},{'name':'at::empty','filename':'','line':0},{'name':'forward','filename':'net.py','line':line},{'name':'<module>','filename':'train.py','line':99}]
A=0x7f0000000000
S=[A,A+64*MB,A+128*MB]
ev=[];t=1000
def e(action,addr,size,line):
    global t; t+=10
    d={'action':action,'addr':addr,'size':size*MB,'stream':0,'time_us':t,'frames':frames(line)}
    if action=='oom': d['device_free']=addr; del d['addr']
    ev.append(d)
def free(addr,size,line): e('free_requested',addr,size,line); e('free_completed',addr,size,line)
e('segment_alloc',S[0],30,1); e('alloc',S[0],30,1); free(S[0],30,1); e('alloc',S[0],2,2)
e('segment_alloc',S[1],32,3); e('alloc',S[1],32,3); free(S[1],32,3); e('alloc',S[1],29,4); e('alloc',S[1]+29*MB,2,5); free(S[1],29,4)
e('segment_alloc',S[2],34,6); e('alloc',S[2],34,6); free(S[2],34,6); e('alloc',S[2],30,7); e('alloc',S[2]+30*MB,3,8); free(S[2],30,7)
e('oom',8*MB,40,77)
def b(a,size,req,line): return {'address':a,'size':size*MB,'requested_size':req*MB,'state':'active_allocated' if line else 'inactive','frames':frames(line) if line else []}
def seg(a,size,blocks): return {'device':0,'address':a,'total_size':size*MB,'stream':0,'segment_type':'large','segment_pool_id':(0,0),'is_expandable':False,'frames':[],'blocks':blocks}
segs=[seg(S[0],30,[b(S[0],2,2,2),b(S[0]+2*MB,28,0,0)]),seg(S[1],32,[b(S[1],29,0,0),b(S[1]+29*MB,3,2,5)]),seg(S[2],34,[b(S[2],30,0,0),b(S[2]+30*MB,4,3,8)])]
pickle.dump({'segments':segs,'device_traces':[ev],'allocator_settings':{'expandable_segments':False,'max_split_size':-1},'external_annotations':[]},open(sys.argv[1],'wb'),protocol=int(sys.argv[2]) if len(sys.argv)>2 else 4)
