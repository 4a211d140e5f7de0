# Other people's programs with libmasu-malloc.so preloaded do what they do without it, and every free is of a block.
library=$MASU_BUILD/libmasu-malloc.so
[ -z "$MASU_SANITIZE" ] || skip "a sanitizer replaces malloc itself"
log=$MASU_TMP/log
absent=

there() { # PROGRAM…   whether all are there; what is not is said at the end
    for program in "$@"; do
        command -v "$program" >/dev/null || { absent="$absent $program" && return 1; }
    done
}
preloaded() { env LD_PRELOAD="$library" MASU_REPORT=json MASU_REPORT_FILE="$log" "$@"; }
expect_same() { # COMMAND…   the same output and status with and without
    rm -f "$log"
    "$@" >"$MASU_TMP/plain" 2>&1 && plain=0 || plain=$?
    preloaded "$@" >"$MASU_TMP/masu" 2>&1 && masu=0 || masu=$?
    [ $plain = $masu ] || fail "$1 ends with $masu in place of $plain: $(tail -n 5 "$MASU_TMP/masu")"
    cmp -s "$MASU_TMP/plain" "$MASU_TMP/masu" || fail "$1: $(diff "$MASU_TMP/plain" "$MASU_TMP/masu" | head -n 5)"
    [ -s "$log" ] || fail "$1 was not served by the library"
    grep -v '"refused_frees":0' "$log" && fail "$1 frees what is not a block"
    return 0
}

if there bash; then
    expect_same bash -c 'for i in {1..300}; do a[i]=$(echo "$i"); s+=${a[i]}x; done; echo "${#s} ${a[*]}"; wait; printf "%s\n" {1..2000} | sort -r | md5sum'
fi
if there git; then
    mkdir "$MASU_TMP/tree"
    cp src/base/*.c "$MASU_TMP/tree"
    expect_same sh -c 'cd "$1" && rm -rf .git && git init -q . && git add . && git -c user.name=a -c user.email=a@b -c commit.gpgsign=false \
        commit -q -m one && git gc -q && git fsck --strict && git log --stat --format=%s && git grep -c masu' sh "$MASU_TMP/tree"
fi
if there perl; then
    expect_same perl -e 'my %h; $h{"k$_"} = "x" x ($_ % 300) for 1..50000; my $s = 0; $s += length $h{$_} for sort keys %h; print "$s\n"; print join(",", map { $_ ** 2 } 1..50), "\n"'
fi
if there gcc; then
    expect_same gcc -O2 -g -Iinclude -Isrc -I"$MASU_BUILD/include" -D_GNU_SOURCE -S src/base/arena.c -o "$MASU_TMP/arena.s"
fi
if there gdb; then
    expect_same gdb -batch -nx -ex 'print 6 * 7' -ex 'info line main' "$MASU_BUILD/masu"
fi
if there /usr/bin/python3; then
    expect_same /usr/bin/python3 -c 'import json, re, sys
d = {str(i): list(range(i % 50)) for i in range(20000)}
text = json.dumps(d)
print(len(text), json.loads(text) == d, len(re.findall("1+", text)), hash(tuple(range(1000))))
try:
    bytearray(1 << 60)
except MemoryError:
    print("MemoryError")'
    expect_same /usr/bin/python3 -c 'import threading, os
stop = False
def churn():
    while not stop:
        kept = [bytearray(i * 37 % 5000) for i in range(100)]
threads = [threading.Thread(target=churn) for i in range(6)]
[t.start() for t in threads]
for i in range(20):
    pid = os.fork()
    if pid == 0:
        kept = [bytearray(k * 131 % 70000) for k in range(200)]
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
stop = True
[t.join() for t in threads]
print("forked")'
    if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
        expect_same /usr/bin/python3 -c 'import numpy as np
r = np.random.default_rng(3)
a = r.random((300, 200))
print(np.round(np.linalg.svd(a @ a.T + np.eye(300))[1][:5], 6), np.sort(r.random(100000))[::20000])
z = np.zeros(1 << 27)
print(z[::1 << 20].sum(), int(open("/proc/self/statm").read().split()[1]) < 60000 or "zeros are resident")' 
    else
        absent="$absent NumPy"
    fi
    if /usr/bin/python3 -c 'import torch' 2>/dev/null; then
        expect_same /usr/bin/python3 -c 'import torch
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 26 * 26, 10))
opt = torch.optim.Adam(net.parameters())
for i in range(5):
    loss = torch.nn.functional.cross_entropy(net(torch.randn(16, 1, 28, 28)), torch.arange(16) % 10)
    opt.zero_grad(); loss.backward(); opt.step()
print("%.4f" % float(loss))'
    else
        absent="$absent PyTorch"
    fi
fi
if there chromium; then
    cat >"$MASU_TMP/page.html" <<'PAGE'
<html><body><script>
let all = [];
for (let i = 0; i < 200000; i++) all.push({x: i, s: "t" + i});
for (let i = 0; i < 500; i++) document.body.appendChild(document.createElement("p")).textContent = all[i * 399].s;
</script></body></html>
PAGE
    HOME=$MASU_TMP expect_same sh -c 'timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$1/$$" --dump-dom "file://$1/page.html" 2>/dev/null' sh "$MASU_TMP"
    grep -q '<p>t199101</p>' "$MASU_TMP/masu" || fail "chromium shows $(head -c 300 "$MASU_TMP/masu")"
fi
if there redis-server redis-benchmark redis-cli; then
    port=$((20000 + $$ % 20000))
    preloaded redis-server --port $port --save '' --appendonly no --dir "$MASU_TMP" >"$MASU_TMP/redis" 2>&1 &
    server=$!
    tries=0
    while [ "$(redis-cli -p $port ping 2>/dev/null)" != PONG ] && [ $tries -lt 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    expect_status 0 timeout 60 redis-benchmark -p $port -q -n 5000 -r 2000 -d 300 -t set,get,lpush,lpop,sadd,hset,spop,zadd,mset
    expect_status 0 redis-cli -p $port bgsave # a fork of a program with threads
    expect_status 0 redis-cli -p $port dbsize
    redis-cli -p $port shutdown nosave >/dev/null 2>&1 || true
    wait $server || fail "redis-server: $(tail -n 5 "$MASU_TMP/redis")"
fi
if there stress-ng; then
    expect_status 0 env LD_PRELOAD="$library" stress-ng --quiet --malloc 2 --malloc-ops 10000 --malloc-bytes 32M --verify --temp-path "$MASU_TMP"
    expect_status 0 env LD_PRELOAD="$library" stress-ng --quiet --malloc 2 --malloc-pthreads 4 --malloc-ops 4000 --malloc-touch --temp-path "$MASU_TMP"
fi
[ -z "$absent" ] || echo "skipped: not here:$absent"
