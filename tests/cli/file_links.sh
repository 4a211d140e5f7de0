# A link is removed itself, and what it leads to stays; bytes that are no text are refused by what prints text; a file
# is not opened for appending and truncating at once. As Rust does.
mkdir -p "$MASU_TMP/kept" "$MASU_TMP/tree"
echo precious >"$MASU_TMP/kept/data"
ln -s ../kept "$MASU_TMP/tree/link"
ln -s kept "$MASU_TMP/alone"
cat >"$MASU_TMP/links.tl" <<'TL'
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
fn main() -> io::Result<()> {
    let root = std::env::var("ROOT").unwrap();
    for e in fs::read_dir(format!("{}/tree", root))? {
        let kind = e?.file_type()?;
        println!("{} {}", kind.is_symlink(), kind.is_dir());
    }
    fs::remove_dir_all(format!("{}/tree", root))?;
    fs::remove_dir_all(format!("{}/alone", root))?;
    println!("{}", fs::read_to_string(format!("{}/kept/data", root))?.trim());
    println!("{:?}", io::stdout().write_all(&vec![0xffu8, 0xfe]).map_err(|e| e.kind()));
    let path = format!("{}/kept/data", root);
    println!("{:?}", OpenOptions::new().append(true).truncate(true).open(&path).map(|_| 1).map_err(|e| e.kind()));
    println!("{}", fs::metadata(&path)?.len());
    Ok(())
}
TL
expect_status 0 env ROOT="$MASU_TMP" "$MASU" run "$MASU_TMP/links.tl"
expect_stdout 'true false
precious
Err(InvalidData)
Err(InvalidInput)
9'
[ ! -e "$MASU_TMP/tree" ] && [ ! -L "$MASU_TMP/alone" ] || fail 'the links are still there'
