/* prelude_integers.c: what integers answer beside the methods of prelude.c, a text for each type. */
#include "language/front/prelude.h"

#define TEXT(...) #__VA_ARGS__ "\n"

/* clang-format off */
#define INTEGER(T) TEXT(                                                                   \
impl T {                                                                                   \
    fn clamp(self, low: T, high: T) -> T {                                                 \
        if self < low { low } else { if self > high { high } else { self } } }             \
    fn pow(self, n: i64) -> T { let mut out: T = 1; for i in 0..n { out = out * self; } out } \
})
/* What needs the width or the sign of the type. */
#define MORE(T, U, W) TEXT(                                                                \
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
        if r / o != self || (T::min_value() < 0 && ((r < 0) != ((self < 0) != (o < 0)))) { None } else { Some(r) } } \
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
    fn overflowing_sub(self, o: T) -> (T, bool) { (self - o, self.checked_sub(o).is_none()) } \
    fn overflowing_mul(self, o: T) -> (T, bool) { (self * o, self.checked_mul(o).is_none()) } \
    fn checked_neg(self) -> Option<T> { (0 as T).checked_sub(self) }                       \
    fn saturating_pow(self, n: i64) -> T {                                                 \
        match self.checked_pow(n) { Some(v) => v,                                          \
            None => if self < 0 && n % 2 == 1 { T::min_value() } else { T::max_value() } } } \
    fn wrapping_shl(self, n: i64) -> T { self << ((n % W) as T) }                          \
    fn wrapping_shr(self, n: i64) -> T { self >> ((n % W) as T) }                          \
    fn checked_shl(self, n: i64) -> Option<T> { if n < 0 || n >= W { None } else { Some(self << (n as T)) } } \
    fn checked_shr(self, n: i64) -> Option<T> { if n < 0 || n >= W { None } else { Some(self >> (n as T)) } } \
    fn wrapping_div(self, o: T) -> T { if T::min_value() < 0 && o == (0 as T) - (1 as T) { (0 as T) - self } else { self / o } } \
    fn wrapping_rem(self, o: T) -> T { if T::min_value() < 0 && o == (0 as T) - (1 as T) { 0 } else { self % o } } \
    fn wrapping_abs(self) -> T { if self < 0 { (0 as T) - self } else { self } }           \
    fn wrapping_neg(self) -> T { (0 as T) - self }                                         \
    fn wrapping_pow(self, n: i64) -> T { self.pow(n) }                                     \
    fn to_le_bytes(self) -> Vec<u8> {                                                      \
        let mut bytes: Vec<u8> = Vec::new();                                               \
        for i in 0 .. W / 8 { bytes.push(((self >> ((8 * i) as T)) & (255 as T)) as u8); }   \
        bytes }                                                                            \
    fn to_be_bytes(self) -> Vec<u8> {                                                      \
        let mut bytes: Vec<u8> = Vec::new();                                               \
        for i in 1 .. W / 8 + 1 { bytes.push(((self >> ((W - 8 * i) as T)) & (255 as T)) as u8); } \
        bytes }                                                                            \
    fn leading_zeros(self) -> u32 {                                                        \
        let mut n = 0;                                                                     \
        let mut i = W - 1;                                                                 \
        while i >= 0 && ((self >> (i as T)) & (1 as T)) == (0 as T) { n += 1; i -= 1; }    \
        n }                                                                                \
    fn trailing_zeros(self) -> u32 {                                                       \
        let mut n = 0;                                                                     \
        while n < W && ((self >> (n as T)) & (1 as T)) == (0 as T) { n += 1; }             \
        n }                                                                                \
    fn count_zeros(self) -> u32 { W - self.count_ones() }                                  \
    fn is_power_of_two(self) -> bool { self > 0 && (self & (self - 1)) == 0 }              \
    fn checked_next_power_of_two(self) -> Option<T> { Some(self.next_power_of_two()) }                        \
    fn next_power_of_two(self) -> T { let mut p: T = 1; while p < self { p = p * 2; } p }  \
    fn isqrt(self) -> T {                                                                  \
        let mut r = ((self as f64).sqrt()) as T;                                           \
        while r * r > self { r = r - 1; }                                                  \
        while (r + 1) * (r + 1) <= self { r = r + 1; }                                     \
        r }                                                                                \
    fn ilog2(self) -> i64 { let mut n = -1; let mut v = self; while v > 0 { v = v / 2; n += 1; } n } \
    fn ilog10(self) -> i64 { let mut n = -1; let mut v = self; while v > 0 { v = v / 10; n += 1; } n } \
    fn unsigned_abs(self) -> U { if self < 0 { (0 as U) - (self as U) } else { self as U } } \
    fn overflowing_neg(self) -> (T, bool) { ((0 as T) - self, self.checked_neg().is_none()) } \
    fn overflowing_pow(self, n: i64) -> (T, bool) { (self.pow(n), self.checked_pow(n).is_none()) } \
    fn checked_abs(self) -> Option<T> { if self < 0 { self.checked_neg() } else { Some(self) } } \
    fn saturating_neg(self) -> T { match self.checked_neg() { Some(v) => v, None => T::max_value() } } \
    fn saturating_abs(self) -> T { match self.checked_abs() { Some(v) => v, None => T::max_value() } } \
    fn div_ceil(self, n: T) -> T { let q = self / n; if self % n != 0 && ((self < 0) == (n < 0)) { q + 1 } else { q } } \
    fn next_multiple_of(self, n: T) -> T { self.div_ceil(n) * n }                          \
    fn is_multiple_of(self, n: T) -> bool { if n == 0 { self == 0 } else { self % n == 0 } } \
    fn leading_ones(self) -> u32 { (!self).leading_zeros() }                               \
    fn trailing_ones(self) -> u32 { (!self).trailing_zeros() }                             \
    fn reverse_bits(self) -> T {                                                           \
        let mut out: T = 0;                                                                \
        for i in 0 .. W { out = (out << (1 as T)) | ((self >> (i as T)) & (1 as T)); }     \
        out }                                                                              \
    fn to_ne_bytes(self) -> Vec<u8> { self.to_le_bytes() }                                 \
    fn from_le_bytes(bytes: Vec<u8>) -> T {                                                \
        let mut out: T = 0;                                                                \
        for i in 0 .. W / 8 { out = out | ((bytes.get(i) as T) << ((8 * i) as T)); }       \
        out }                                                                              \
    fn from_be_bytes(bytes: Vec<u8>) -> T {                                                \
        let mut out: T = 0;                                                                \
        for i in 0 .. W / 8 { out = out | ((bytes.get(i) as T) << ((W - 8 - 8 * i) as T)); } \
        out }                                                                              \
    fn from_ne_bytes(bytes: Vec<u8>) -> T { T::from_le_bytes(bytes) }                      \
    fn swap_bytes(self) -> T {                                                             \
        let mut out: T = 0;                                                                \
        let mut v = self;                                                                  \
        for i in 0 .. W / 8 { out = (out << 8) | (v & 255); v = v >> 8; }                    \
        out }                                                                              \
    fn rotate_left(self, n: i64) -> T {                                                    \
        if n % W == 0 { self } else { (self << ((n % W) as T)) | self.__unsigned_shr(W - n % W) } } \
    fn rotate_right(self, n: i64) -> T { self.rotate_left(W - n % W) }                     \
    fn __unsigned_shr(self, n: i64) -> T {                                                 \
        (self >> (n as T)) & (((1 as T) << ((W - n) as T)) - (1 as T)) }                   \
})
/* What prelude.c has of the types that most programs use. */
#define BASIC(T, U) TEXT(                                                                  \
impl T {                                                                                   \
    fn rem_euclid(self, n: T) -> T { let r = self % n; if r < 0 { r + n } else { r } }     \
    fn signum(self) -> T { if self < 0 { (0 as T) - (1 as T) } else { if self > 0 { 1 } else { 0 } } } \
    fn abs_diff(self, o: T) -> U { if self < o { (o as U) - (self as U) } else { (self as U) - (o as U) } } \
    fn wrapping_add(self, o: T) -> T { self + o }                                          \
    fn wrapping_sub(self, o: T) -> T { self - o }                                          \
    fn wrapping_mul(self, o: T) -> T { self * o }                                          \
    fn checked_sub(self, o: T) -> Option<T> {                                              \
        if (o > 0 && self < T::min_value() + o) || (o < 0 && self > T::max_value() + o) { None } \
        else { Some(self - o) } }                                                          \
    fn saturating_sub(self, o: T) -> T {                                                   \
        match self.checked_sub(o) { Some(v) => v, None => if o > 0 { T::min_value() } else { T::max_value() } } } \
    fn checked_div(self, o: T) -> Option<T> {                                              \
        if o == 0 || (T::min_value() < 0 && self == T::min_value() && o == (0 as T) - (1 as T)) { None } \
        else { Some(self / o) } }                                                          \
    fn checked_rem(self, o: T) -> Option<T> {                                              \
        if o == 0 || (T::min_value() < 0 && self == T::min_value() && o == (0 as T) - (1 as T)) { None } \
        else { Some(self % o) } }                                                          \
    fn count_ones(self) -> u32 { let mut left = self; let mut n = 0; while left != 0 { left = left & (left - 1); n += 1; } n } \
    fn trailing_zeros(self) -> u32 {                                                       \
        let mut n = 0;                                                                     \
        while n < (T::BITS as u32) && ((self >> (n as T)) & (1 as T)) == (0 as T) { n += 1; } \
        n }                                                                                \
})
/* clang-format on */

const char prelude_i64_text[] = MORE(i64, u64, 64);
const char prelude_i32_text[] = MORE(i32, u32, 32);
const char prelude_u32_text[] = MORE(u32, u32, 32);
const char prelude_usize_text[] = MORE(usize, usize, 64);
const char prelude_u64_text[] = MORE(u64, u64, 64);
const char prelude_u8_text[] = MORE(u8, u8, 8);
const char prelude_i8_text[] = INTEGER(i8) BASIC(i8, u8) MORE(i8, u8, 8);
const char prelude_i16_text[] = INTEGER(i16) BASIC(i16, u16) MORE(i16, u16, 16);
const char prelude_u16_text[] = INTEGER(u16) BASIC(u16, u16) MORE(u16, u16, 16);

const size_t prelude_i64_length = sizeof prelude_i64_text - 1,
             prelude_i32_length = sizeof prelude_i32_text - 1,
             prelude_u32_length = sizeof prelude_u32_text - 1,
             prelude_usize_length = sizeof prelude_usize_text - 1,
             prelude_u64_length = sizeof prelude_u64_text - 1,
             prelude_u8_length = sizeof prelude_u8_text - 1,
             prelude_i8_length = sizeof prelude_i8_text - 1,
             prelude_i16_length = sizeof prelude_i16_text - 1,
             prelude_u16_length = sizeof prelude_u16_text - 1;
