# docs/planner.md: each command of its first block runs as it stands, on a small network; what it promises is there.
file=$MASU_TMP/model.csv
cat >"$file" <<'TABLE'
id,lower,upper,size
in,0,2,4096
conv1,0,3,16384
conv2,1,4,16384
relu,2,5,16384
out,3,6,1024
TABLE
cat >"$MASU_TMP/model.ops.csv" <<'TABLE'
op,type,inputs,outputs
0,Conv,in,conv1
1,Conv,conv1,conv2
2,Relu,conv2,relu
3,Conv,relu,out
TABLE
page=$PWD/docs/planner.md
cd "$MASU_TMP"
grep '^    masu plan ' "$page" | sed 's/ *#.*//; s/^ *//' >commands
[ "$(wc -l <commands)" -ge 8 ] || fail "the page has lost its commands"
while read -r command; do
    case $command in *--compare*) command="$command --time 1" ;; esac
    expect_status 0 sh -c "\"\$MASU\" ${command#masu }"
done <commands
[ -s plan.json ] && [ -s plan.svg ] && [ -s parts.csv ] && [ -s parts.svg ] || fail "a file is missing"
