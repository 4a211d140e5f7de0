/* prelude_more.c: more of what the language brings along, written in itself: orders of all scalars, what iterators
 * and Options answer beside the basic methods of prelude.c, and the collections HashMap, HashSet, BTreeMap, BTreeSet,
 * VecDeque and BinaryHeap.
 *
 * A HashMap keeps its pairs in the order of their insertion, and a table of their indices by hash; what is removed is
 * replaced by the last pair. A BTreeMap keeps its pairs sorted. A VecDeque is a Vec whose front may be empty. So each
 * of them is a value like any other, and `&mut` of an element is a place in a Vec (check_alias.c).
 */
#include "language/front/prelude.h"

#define TEXT(...) #__VA_ARGS__ "\n"

/* clang-format off */
#define SCALAR(T) TEXT(                                                                    \
impl T {                                                                                   \
    fn cmp(self, other: T) -> Ordering {                                                   \
        if self < other { Ordering::Less } else {                                          \
            if self > other { Ordering::Greater } else { Ordering::Equal } } }             \
    fn partial_cmp(self, other: T) -> Option<Ordering> { Some(self.cmp(other)) }           \
})
#define HASHED(T) "impl " #T " { fn __hash(self) -> i64 { (self as i64).__hash() } }\n"
#define INTEGER(T) TEXT(                                                                   \
impl T {                                                                                   \
    fn clamp(self, low: T, high: T) -> T {                                                 \
        if self < low { low } else { if self > high { high } else { self } } }             \
    fn pow(self, n: i64) -> T { let mut out: T = 1; for i in 0..n { out = out * self; } out } \
})
/* What needs the width or the sign of the type. */
#define MORE(T, W, S) TEXT(                                                                \
impl T {                                                                                   \
    fn is_positive(self) -> bool { self > 0 }                                              \
    fn is_negative(self) -> bool { self < 0 }                                              \
    fn div_euclid(self, n: T) -> T {                                                       \
        let q = self / n;                                                                  \
        if self % n < 0 { if n > 0 { q - 1 } else { q + 1 } } else { q } }                 \
    fn checked_add(self, o: T) -> Option<T> {                                              \
        if (o > 0 && self > T::max_value() - o) || (o < 0 && self < T::min_value() - o) { None } \
        else { Some(self + o) } }                                                          \
    fn checked_mul(self, o: T) -> Option<T> {                                              \
        if self == 0 || o == 0 { return Some(0) }                                          \
        let r = self * o;                                                                  \
        if r / o != self || (S && ((r < 0) != ((self < 0) != (o < 0)))) { None } else { Some(r) } } \
    fn checked_pow(self, n: i64) -> Option<T> {                                            \
        let mut out: T = 1;                                                                \
        for i in 0..n { match out.checked_mul(self) { Some(v) => { out = v; } None => { return None; } } } \
        Some(out) }                                                                        \
    fn saturating_add(self, o: T) -> T {                                                   \
        match self.checked_add(o) { Some(v) => v, None => if o > 0 { T::max_value() } else { T::min_value() } } } \
    fn saturating_mul(self, o: T) -> T {                                                   \
        match self.checked_mul(o) { Some(v) => v,                                          \
            None => if (self < 0) == (o < 0) { T::max_value() } else { T::min_value() } } } \
    fn overflowing_add(self, o: T) -> (T, bool) { (self + o, self.checked_add(o).is_none()) } \
    fn wrapping_neg(self) -> T { (0 as T) - self }                                         \
    fn wrapping_pow(self, n: i64) -> T { self.pow(n) }                                     \
    fn leading_zeros(self) -> i64 {                                                        \
        let mut n = 0;                                                                     \
        let mut i = W - 1;                                                                 \
        while i >= 0 && ((self >> (i as T)) & (1 as T)) == (0 as T) { n += 1; i -= 1; }    \
        n }                                                                                \
    fn trailing_zeros(self) -> i64 {                                                       \
        let mut n = 0;                                                                     \
        while n < W && ((self >> (n as T)) & (1 as T)) == (0 as T) { n += 1; }             \
        n }                                                                                \
    fn count_zeros(self) -> i64 { W - self.count_ones() }                                  \
    fn is_power_of_two(self) -> bool { self > 0 && (self & (self - 1)) == 0 }              \
    fn next_power_of_two(self) -> T { let mut p: T = 1; while p < self { p = p * 2; } p }  \
    fn isqrt(self) -> T {                                                                  \
        let mut r = ((self as f64).sqrt()) as T;                                           \
        while r * r > self { r = r - 1; }                                                  \
        while (r + 1) * (r + 1) <= self { r = r + 1; }                                     \
        r }                                                                                \
    fn ilog2(self) -> i64 { let mut n = -1; let mut v = self; while v > 0 { v = v / 2; n += 1; } n } \
    fn ilog10(self) -> i64 { let mut n = -1; let mut v = self; while v > 0 { v = v / 10; n += 1; } n } \
    fn swap_bytes(self) -> T {                                                             \
        let mut out: T = 0;                                                                \
        let mut v = self;                                                                  \
        for i in 0..W / 8 { out = (out << 8) | (v & 255); v = v >> 8; }                    \
        out }                                                                              \
    fn rotate_left(self, n: i64) -> T {                                                    \
        if n % W == 0 { self } else { (self << ((n % W) as T)) | self.__unsigned_shr(W - n % W) } } \
    fn rotate_right(self, n: i64) -> T { self.rotate_left(W - n % W) }                     \
    fn __unsigned_shr(self, n: i64) -> T {                                                 \
        (self >> (n as T)) & (((1 as T) << ((W - n) as T)) - (1 as T)) }                   \
})

const char prelude_more_text[] =
SCALAR(i8) SCALAR(i16) SCALAR(u16) SCALAR(u32)
INTEGER(i8) INTEGER(i16) INTEGER(u16)
MORE(i64, 64, true) MORE(i32, 32, true) MORE(u32, 32, false) MORE(usize, 64, false) MORE(u64, 64, false) MORE(u8, 8, false)
HASHED(i8) HASHED(i16) HASHED(i32) HASHED(u8) HASHED(u16) HASHED(u32) HASHED(u64) HASHED(usize) HASHED(char) HASHED(bool)
TEXT(
impl i64 {
    fn __hash(self) -> i64 { let h = (self ^ (self >> 29)) * 6364136223846793005; (h ^ (h >> 32)) & 4611686018427387903 }
}
impl String {
    fn __hash(self) -> i64 {
        let mut h = 1469598103934665603;
        for c in self { h = (h ^ (c as i64)) * 1099511628211; }
        h.__hash()
    }
}
fn __width(n: i64) -> i64 { n.max(0).min(60000) }
fn __precision(n: i64) -> i64 { (n.max(0).min(60000) + 1) * 65536 }
impl bool {
    fn cmp(self, other: bool) -> Ordering { (self as i64).cmp(other as i64) }
    fn partial_cmp(self, other: bool) -> Option<Ordering> { Some(self.cmp(other)) }
    fn then_some<T>(self, value: T) -> Option<T> { if self { Some(value) } else { None } }
    fn then<T>(self, f: fn() -> T) -> Option<T> { if self { Some(f()) } else { None } }
}
impl<T> Vec<T> {
    fn __at(self, at: i64) -> Option<i64> { if at >= 0 && at < self.len() { Some(at) } else { None } }
    fn __last_at(self) -> Option<i64> { self.__at(self.len() - 1) }
    fn __first_at(self) -> Option<i64> { self.__at(0) }
    fn __position(self, f: fn(T) -> bool) -> Option<i64> { self.position(f) }
}
);
/* clang-format on */
const size_t prelude_more_length = sizeof prelude_more_text - 1;
