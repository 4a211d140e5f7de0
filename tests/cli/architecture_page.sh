# ARCHITECTURE.md names only files and folders that exist, and every room of src.
paths=$(grep -o '`[A-Za-z0-9_./-]*`' ARCHITECTURE.md | tr -d '`' | grep -E '/|\.(c|h|def|sh)$' | sort -u)
[ "$(echo "$paths" | wc -l)" -gt 40 ] || fail 'the page names files'
for path in $paths; do
    found=no
    for place in '' src/ src/language/ src/allocators/ include/ integrations/; do
        [ ! -e "$place$path" ] || found=yes
    done
    [ "$found" = yes ] || fail "ARCHITECTURE.md names $path, which does not exist"
done
for room in src/*/ src/*/*/; do
    room=${room#src/}
    case $room in
    */*/) grep -qF "\`$room\`" ARCHITECTURE.md || fail "ARCHITECTURE.md does not say what src/$room is" ;;
    *) grep -qF "\`src/$room\`" ARCHITECTURE.md || fail "ARCHITECTURE.md does not say what src/$room is" ;;
    esac
done
# Who follows the one tensor opens each file once, and goes down: no path is named twice on the way.
sed -n '/^## The life of/,/^## When something fails/p' ARCHITECTURE.md | grep -oE '`[a-z_]+/[A-Za-z0-9_./-]*`' | sort >"$MASU_TMP/way"
[ "$(wc -l <"$MASU_TMP/way")" -ge 15 ] || fail "the way has lost its files"
[ -z "$(uniq -d <"$MASU_TMP/way")" ] || fail "ARCHITECTURE.md leads twice to $(uniq -d <"$MASU_TMP/way")"
