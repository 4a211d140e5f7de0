# Values and gradients of every operation: masu against what PyTorch computed, then, where PyTorch is installed, what is
# recorded against what it computes now. Every operation of docs/operations.md occurs, or stands below with its reason.
folder=tests/vectors
for program in "$folder"/operations_*.tl; do
    expect_status 0 "$MASU" run "$program"
    expect_stderr ''
done

# Random ones are judged by their distribution (test_ops_creation), the others by goldens (those in place, which keep a
# dimension, convert or ask: lang_in_place_names); those of autograd are the means by which gradients are asked for
# everywhere here.
exempt='randn rand randn_like rand_like bernoulli normal uniform
    add_ sub_ mul_ div_ exp_ neg_ relu_ sigmoid_ tanh_ clamp_ masked_fill_ fill_diagonal_ copy_ zero_ normal_ uniform_ squeeze_ unsqueeze_
    scatter_ scatter_add_ index_add_ clip_grad_norm_ clip_grad_value_
    xavier_uniform xavier_normal kaiming_uniform kaiming_normal orthogonal xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_
    sqrt_ rsqrt_ square_ reciprocal_ log_ log2_ log10_ log1p_ expm1_ abs_ sign_ floor_ ceil_ round_ trunc_ frac_
    sin_ cos_ tan_ erf_ leaky_relu_ elu_ pow_ fmod_ clamp_min_ clamp_max_ lerp_ addcmul_ addcdiv_ addmm_ nan_to_num_
    cumsum_ cumprod_ tril_ triu_ index_fill_ index_copy_ masked_scatter_ bernoulli_ exponential_ transpose_ t_
    detach_ gumbel_softmax poisson dropout2d
    aminmax max_keepdim min_keepdim sum_keepdim mean_keepdim matrix_rank
    load try_load save read_csv double int empty empty_like is_empty scalar to_vec2 tolist requires_grad requires_grad_ zero_grad
    is_leaf manual_seed
    randint randperm multinomial sample top_k_sample top_p_sample
    len ndim dim shape numel size rank item to_f32 item_i64 to_i64 to_vec print display
        backward parameters grad retain_grad detach enable_grad unfreeze freeze clear_grads clip_grad_norm clip_grad_value'
sed -n '/^## Vec/q; s/^| `\(t\.\|Tensor::\)\([a-z_0-9]*\)[(<].*/\2/p' docs/operations.md | sort -u >"$MASU_TMP/names"
[ "$(wc -l <"$MASU_TMP/names")" -gt 100 ] || fail 'docs/operations.md lists no operations'
while read -r name; do
    case " $(echo $exempt) " in *" $name "*) continue ;; esac
    grep -qE "near\(\"[^\"]*[.:]$name\(" "$folder"/operations_*.tl || fail "$name: PyTorch was not asked"
done <"$MASU_TMP/names"

# What backward passes through was asked for its gradients, too: in f32 and in f64 (decompositions, whose f32 is only
# LAPACK's, and those that are written in the language, of parts that have theirs, in f64), and once more as a function
# of a view, the result used twice (`let z = a.transpose(0, 1)`), where an operation takes a matrix.
sed -n '/^## Vec/q; s/^| `\(t\.\|Tensor::\)\([a-z_0-9]*\)[(<].* | yes | .*/\2/p' docs/operations.md | sort -u >"$MASU_TMP/smooth"
[ "$(wc -l <"$MASU_TMP/smooth")" -gt 100 ] || fail 'docs/operations.md lists no gradients'
grep -ho 'near("[^"]*: gradient of' "$folder"/operations_*.tl >"$MASU_TMP/gradients"
tr " " "\n" <"$folder/composed.txt" >"$MASU_TMP/composed" # of parts that are recorded in f32
while read -r name; do
    for type in f d; do
        case "$type $name" in 'f pinverse' | 'f lstsq' | 'f logdet' | 'f svd' | 'f eigh' | 'f qr' | 'f slogdet' | 'f eigvalsh' | 'f svdvals' | 'f svd_'[suv] | 'f eig_values' | 'f eig_vectors') continue ;; esac
        case "$name" in max_keepdim | min_keepdim | sum_keepdim | mean_keepdim | double | nan_to_num) continue ;; esac # golden grad_keepdim
        case "$name" in gumbel_softmax | dropout2d) continue ;; esac # random, golden lib_names_more
        ! { [ "$type" = f ] && grep -qx "$name" "$MASU_TMP/composed"; } || continue
        grep -qE "^near\(\"[a-z_0-9]+ $type [^\"]*[.:]$name\(" "$MASU_TMP/gradients" || fail "$name: no gradient in $type"
    done
done <"$MASU_TMP/smooth"
again=$(grep -c 'let z = a.transpose(0, 1)' "$MASU_TMP/gradients")
[ "$again" -ge 100 ] || fail "only $again operations on a view, used twice"

expect_derived "$folder/record.py"
