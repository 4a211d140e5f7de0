# NumPy and PyTorch read what masu writes and the reverse: each format, every element type, both orders of bytes and of
# axes. Loads that do not fit are refused; what is read of a large file is what is asked for.
python=
for candidate in /usr/bin/python3 python3; do
    "$candidate" -c 'import numpy' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || skip "no Python with NumPy"

cat >"$MASU_TMP/copy.tl" <<'TL'
fn main() {
    let folder = std::env::args().nth(1).unwrap();
    for source in ["from_python.safetensors", "stored.npz", "deflated.npz"] {
        for end in ["safetensors", "npz"] {
            let mut all = Param::load_map(format!("{}/{}", folder, source));
            all.save(format!("{}/{}.{}", folder, source, end));
        }
    }
    for name in ["f32", "f64", "f16", "i64", "i32", "i16", "i8", "u8", "u16", "u32", "u64", "bool"] {
        for form in ["", "_columns", "_other"] {
            let path = format!("{}/{}{}.npy", folder, name, form);
            TensorFile::open(&path).unwrap().get("array").unwrap().save(path + ".npy");
        }
    }
    for version in 1..4 {
        let path = format!("{}/version{}.npy", folder, version);
        let t: Tensor<f64, 2> = Tensor::load(&path);
        t.save(path + ".npy");
    }
    let notes = TensorFile::open(format!("{}/from_python.safetensors", folder)).unwrap().metadata();
    println!("{:?} {:?}", notes["format"], notes["note"]);
}
TL
cat >"$MASU_TMP/torch.tl" <<'TL'
struct Linear { weight: Tensor<f32, 2>, bias: Tensor<f32, 1> }
struct Norm { weight: Tensor, bias: Tensor, running_mean: Tensor, running_var: Tensor, num_batches_tracked: Tensor<i64> }
struct Net { fc: Linear, norm: Norm }
fn zeros() -> Net {
    Net { fc: Linear { weight: Tensor::zeros([4, 3]).detach(true), bias: Tensor::zeros([4]).detach(true) },
        norm: Norm { weight: Tensor::zeros([4]).detach(true), bias: Tensor::zeros([4]).detach(true), running_mean: Tensor::zeros([4]),
            running_var: Tensor::zeros([4]), num_batches_tracked: Tensor::scalar(0.0) as Tensor<i64> } }
}
fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let mut net = zeros();
    net.load(format!("{}/torch.safetensors", folder));
    println!("{} {} {}", net.fc.weight, net.norm.running_var, net.norm.num_batches_tracked);
    net.fc.weight = (net.fc.weight * 2.0).detach(true);
    net.fc.bias = (net.fc.bias * 2.0).detach(true);
    net.norm.weight = (net.norm.weight * 2.0).detach(true);
    net.norm.bias = (net.norm.bias * 2.0).detach(true);
    net.save(format!("{}/from_masu.safetensors", folder));
}
TL
mkdir "$MASU_TMP/files"
expect_status 0 "$python" tests/cli/tensor_files.py write "$MASU_TMP/files"
expect_status 0 "$MASU" run "$MASU_TMP/copy.tl" "$MASU_TMP/files"
expect_stdout '"pt" "ü\n"'
if [ -f "$MASU_TMP/files/torch.safetensors" ]; then
    expect_status 0 "$MASU" run "$MASU_TMP/torch.tl" "$MASU_TMP/files"
    expect_stdout '[[ 0.0000,  1.0000,  2.0000],
 [ 3.0000,  4.0000,  5.0000],
 [ 6.0000,  7.0000,  8.0000],
 [ 9.0000, 10.0000, 11.0000]] [5.0000, 6.0000, 7.0000, 8.0000] 6'
fi
expect_status 0 "$python" tests/cli/tensor_files.py check "$MASU_TMP/files"
cat "$MASU_TMP.stdout"

# A file of a gigabyte without contents: one small tensor of it is read, and so little memory is touched.
"$python" - "$MASU_TMP/large.safetensors" <<'PY'
import json, struct, sys
n = 1 << 28
header = {"small": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "large": {"dtype": "F32", "shape": [n], "data_offsets": [8, 8 + 4 * n]}}
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + struct.pack("<2f", 1.5, 2.5))
    f.truncate(8 + len(text) + 8 + 4 * n)
PY
cat >"$MASU_TMP/small.tl" <<'TL'
fn main() {
    let file = TensorFile::open(std::env::args().nth(1).unwrap()).unwrap();
    println!("{:?} {:?}", file.about("large"), file.get("small").unwrap());
}
TL
expect_status 0 "$MASU" run --report=json --report-file="$MASU_TMP/report" "$MASU_TMP/small.tl" "$MASU_TMP/large.safetensors"
expect_stdout 'Some("f32[268435456]") [1.5000, 2.5000]'
[ -n "$MASU_SANITIZE" ] || expect_report "$MASU_TMP/report" rss_peak_bytes '<=' $((300 << 20))

# IDX, as MNIST's files are: bytes, shorts and floats with the highest byte first, also within gzip.
printf '\000\000\010\003\000\000\000\002\000\000\000\001\000\000\000\002\000\001\200\377' >"$MASU_TMP/u8.idx"
printf '\000\000\013\001\000\000\000\002\001\002\377\376' >"$MASU_TMP/i16.idx"
printf '\000\000\015\001\000\000\000\001\300\100\000\000' >"$MASU_TMP/f32.idx"
gzip -nk "$MASU_TMP/u8.idx"
cat >"$MASU_TMP/idx.tl" <<'TL'
fn main() {
    let folder = std::env::args().nth(1).unwrap();
    for name in ["u8.idx", "u8.idx.gz"] {
        let t: Tensor<i64, 3> = Tensor::load(format!("{}/{}", folder, name));
        let pixels: Tensor<f32, 3> = Tensor::load(format!("{}/{}", folder, name));
        println!("{:?} {:?} {}", t.shape(), t.flatten().to_vec(), (pixels / 255.0).max());
    }
    let i: Tensor<i64, 1> = Tensor::load(folder + "/i16.idx");
    println!("{} {}", i, Tensor::load(folder + "/f32.idx"));
    let r: Result<Tensor<f32>, std::io::Error> = Tensor::try_load(folder + "/cut.idx.gz");
    println!("{}", r.is_err());
}
TL
head -c 30 "$MASU_TMP/u8.idx.gz" >"$MASU_TMP/cut.idx.gz"
expect_status 0 "$MASU" run "$MASU_TMP/idx.tl" "$MASU_TMP"
expect_stdout '[2, 1, 2] [0, 1, 128, 255] 1
[2, 1, 2] [0, 1, 128, 255] 1
[258, -2] [-3.0000]
true'
