/* prelude_more.c: more of what the language brings along, written in itself: orders of all scalars, what iterators
 * and Options answer beside the basic methods of prelude.c.
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
/* Keys and values [batch, heads, positions, dim] of the layers of a decoder; `update` takes the whole of a layer. */
static const char kv_cache_text[] =
    "struct KVCache { keys: Vec<Tensor>, values: Vec<Tensor> }\n"
    "impl KVCache {\n"
    "    fn new(layers: i64) -> KVCache {\n"
    "        let mut cache = KVCache { keys: Vec::new(), values: Vec::new() };\n"
    "        for i in 0..layers {\n"
    "            cache.keys.push(Tensor::zeros([0, 0, 0, 0]));\n"
    "            cache.values.push(Tensor::zeros([0, 0, 0, 0]));\n"
    "        }\n"
    "        cache\n"
    "    }\n"
    "    fn get_k(self, layer: i64) -> Tensor { self.keys[layer] }\n"
    "    fn get_v(self, layer: i64) -> Tensor { self.values[layer] }\n"
    "    fn update(self, layer: i64, k: Tensor, v: Tensor) { self.keys[layer] = k; self.values[layer] = v; }\n"
    "    fn len(self) -> i64 { self.keys.len() }\n"
    "    fn free(self) { self.keys = Vec::new(); self.values = Vec::new(); }\n"
    "}\n";
const char prelude_more_text[] =
SCALAR(i8) SCALAR(i16) SCALAR(u16) SCALAR(u32)
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
fn __steps(from: i64, to: i64, step: i64) -> Vec<i64> {
    assert(step != 0, "range: the step is 0");
    let mut numbers = Vec::new();
    let mut at = from;
    while (step > 0 && at < to) || (step < 0 && at > to) { numbers.push(at); at += step; }
    numbers
}
fn __std_max<T>(a: T, b: T) -> T { if b < a { a } else { b } }
fn __std_min<T>(a: T, b: T) -> T { if b < a { b } else { a } }
fn __std_swap<T>(a: &mut T, b: &mut T) { let held = *a; a = b; b = held; }
fn __std_replace<T>(a: &mut T, b: T) -> T { let held = *a; a = b; held }
fn __std_take<T>(a: &mut T) -> T { let held = *a; a = Default::default(); held }
fn __std_drop<T>(a: T) { }
fn __std_identity<T>(a: T) -> T { a }
fn __std_once<T>(a: T) -> Vec<T> { let mut out: Vec<T> = Vec::new(); out.push(a); out }
fn __std_successors<T>(first: Option<T>, f: fn(T) -> Option<T>) -> Vec<T> {
    let mut out: Vec<T> = Vec::new();
    let mut next = first;
    loop { match next { Some(v) => { out.push(v); next = f(v); } None => { return out; } } }
}
fn __std_from_fn<T>(f: fn() -> Option<T>) -> Vec<T> {
    let mut out: Vec<T> = Vec::new();
    loop { match f() { Some(v) => { out.push(v); } None => { return out; } } }
}
struct Reverse<T>(T);
impl<T> Reverse<T> { fn cmp(self, other: Reverse<T>) -> Ordering { other.0.cmp(self.0) } }
impl Ordering {
    fn then_with(self, f: fn() -> Ordering) -> Ordering { if self == Ordering::Equal { f() } else { self } }
    fn is_eq(self) -> bool { self == Ordering::Equal }
    fn is_lt(self) -> bool { self == Ordering::Less }
    fn is_gt(self) -> bool { self == Ordering::Greater }
    fn is_le(self) -> bool { self != Ordering::Greater }
    fn is_ge(self) -> bool { self != Ordering::Less }
}
impl<T> Option<T> {
    fn map_or_else<U>(self, other: fn() -> U, f: fn(T) -> U) -> U { match self { Some(v) => f(v), None => other() } }
    fn and<U>(self, other: Option<U>) -> Option<U> { match self { Some(_) => other, None => None } }
    fn xor(self, other: Option<T>) -> Option<T> {
        match self { Some(v) => if other.is_some() { None } else { Some(v) }, None => other } }
    fn zip<U>(self, other: Option<U>) -> Option<(T, U)> {
        match self { Some(a) => match other { Some(b) => Some((a, b)), None => None }, None => None } }
    fn is_none_or(self, f: fn(T) -> bool) -> bool { match self { Some(v) => f(v), None => true } }
    fn inspect(self, f: fn(T)) -> Option<T> { match self { Some(v) => { f(v); } None => { } } self }
    fn iter(self) -> Vec<T> { let mut out: Vec<T> = Vec::new(); match self { Some(v) => { out.push(v); } None => { } } out }
    fn into_iter(self) -> Vec<T> { self.iter() }
    fn get_or_insert(self, value: T) -> T { match self { Some(v) => v, None => { self = Some(value); value } } }
    fn get_or_insert_with(self, f: fn() -> T) -> T { match self { Some(v) => v, None => { let v = f(); self = Some(v); v } } }
}
impl Ordering { fn __or(self, other: Ordering) -> Ordering { if self == Ordering::Equal { other } else { self } } }
impl i64 {
    fn __code_point(self) -> Option<u32> {
        if (self >= 0 && self < 55296) || (self > 57343 && self < 1114112) { Some(self as u32) } else { None } }
    fn __digit(self, base: i64) -> Option<char> {
        if self >= base { None } else { if self < 10 { Some((self as u8 + 48) as char) } else { Some((self as u8 + 87) as char) } } }
}
impl<T> Option<Option<T>> { fn flatten(self) -> Option<T> { match self { Some(v) => v, None => None } } }
impl<T, E> Option<Result<T, E>> {
    fn transpose(self) -> Result<Option<T>, E> {
        match self { Some(r) => match r { Ok(v) => Ok(Some(v)), Err(e) => Err(e) }, None => Ok(None) } }
}
impl<T, E> Result<T, E> {
    fn unwrap_or_default(self) -> T { match self { Ok(v) => v, Err(_) => Default::default() } }
    fn is_ok_and(self, f: fn(T) -> bool) -> bool { match self { Ok(v) => f(v), Err(_) => false } }
    fn is_err_and(self, f: fn(E) -> bool) -> bool { match self { Ok(_) => false, Err(e) => f(e) } }
    fn map_or<U>(self, other: U, f: fn(T) -> U) -> U { match self { Ok(v) => f(v), Err(_) => other } }
    fn map_or_else<U>(self, other: fn(E) -> U, f: fn(T) -> U) -> U { match self { Ok(v) => f(v), Err(e) => other(e) } }
    fn and<U>(self, other: Result<U, E>) -> Result<U, E> { match self { Ok(_) => other, Err(e) => Err(e) } }
    fn or<F>(self, other: Result<T, F>) -> Result<T, F> { match self { Ok(v) => Ok(v), Err(_) => other } }
    fn or_else<F>(self, f: fn(E) -> Result<T, F>) -> Result<T, F> { match self { Ok(v) => Ok(v), Err(e) => f(e) } }
    fn expect_err(self, message: String) -> E { match self { Ok(_) => panic(message), Err(e) => e } }
    fn iter(self) -> Vec<T> { self.ok().iter() }
    fn into_iter(self) -> Vec<T> { self.ok().iter() }
}
impl<T> Vec<T> {
    fn __at(self, at: i64) -> Option<i64> { if at >= 0 && at < self.len() { Some(at) } else { None } }
    fn __last_at(self) -> Option<i64> { self.__at(self.len() - 1) }
    fn __first_at(self) -> Option<i64> { self.__at(0) }
    fn __position(self, f: fn(T) -> bool) -> Option<i64> { self.position(f) }
    fn cmp(self, other: Vec<T>) -> Ordering {
        let n = self.len().min(other.len());
        for i in 0..n { let o = self[i].cmp(other[i]); if o != Ordering::Equal { return o } }
        self.len().cmp(other.len())
    }
    fn partial_cmp(self, other: Vec<T>) -> Option<Ordering> { Some(self.cmp(other)) }
    fn eq(self, other: Vec<T>) -> bool { self == other }
    fn as_slice(self) -> Vec<T> { self }
    fn into_boxed_slice(self) -> Vec<T> { self }
    fn scan<S, U>(self, start: S, f: fn(&mut S, T) -> Option<U>) -> Vec<U> {
        let mut state = start;
        let mut out: Vec<U> = Vec::new();
        for v in self { match f(&mut state, v) { Some(u) => { out.push(u); } None => { return out; } } }
        out
    }
    fn map_while<U>(self, f: fn(T) -> Option<U>) -> Vec<U> {
        let mut out: Vec<U> = Vec::new();
        for v in self { match f(v) { Some(u) => { out.push(u); } None => { return out; } } }
        out
    }
    fn inspect(self, f: fn(T)) -> Vec<T> { for v in self { f(v); } self }
    fn peekable(self) -> Vec<T> { self }
    fn fuse(self) -> Vec<T> { self }
    fn max_by(self, order: fn(T, T) -> Ordering) -> Option<T> {
        if self.is_empty() { return None }
        let mut best = self[0];
        for v in self { if order(v, best) != Ordering::Less { best = v; } }
        Some(best)
    }
    fn min_by(self, order: fn(T, T) -> Ordering) -> Option<T> {
        if self.is_empty() { return None }
        let mut best = self[0];
        for v in self { if order(v, best) == Ordering::Less { best = v; } }
        Some(best)
    }
    fn try_fold<A>(self, start: A, f: fn(A, T) -> Option<A>) -> Option<A> {
        let mut sum = start;
        for v in self { match f(sum, v) { Some(s) => { sum = s; } None => { return None; } } }
        Some(sum)
    }
    fn reduce(self, f: fn(T, T) -> T) -> Option<T> {
        if self.is_empty() { return None }
        let mut sum = self[0];
        for i in 1..self.len() { sum = f(sum, self[i]); }
        Some(sum)
    }
    fn rposition(self, f: fn(T) -> bool) -> Option<i64> {
        for i in 0..self.len() { let at = self.len() - 1 - i; if f(self[at]) { return Some(at) } }
        None
    }
    fn rfind(self, f: fn(T) -> bool) -> Option<T> {
        for i in 0..self.len() { let at = self.len() - 1 - i; if f(self[at]) { return Some(self[at]) } }
        None
    }
    fn find_map<U>(self, f: fn(T) -> Option<U>) -> Option<U> {
        for v in self { match f(v) { Some(u) => { return Some(u); } None => { } } }
        None
    }
    fn nth(self, n: i64) -> Option<T> { if n < self.len() { Some(self[n]) } else { None } }
    fn next(self) -> Option<T> {
        if self.is_empty() { return None }
        let v = self[0];
        self = self.slice(1, self.len());
        Some(v)
    }
    fn next_back(self) -> Option<T> { if self.is_empty() { None } else { Some(self.__pop()) } }
    fn peek(self) -> Option<T> { if self.is_empty() { None } else { Some(self[0]) } }
    fn next_if(self, f: fn(T) -> bool) -> Option<T> { if !self.is_empty() && f(self[0]) { self.next() } else { None } }
    fn next_if_eq(self, wanted: T) -> Option<T> { if !self.is_empty() && self[0] == wanted { self.next() } else { None } }
    fn cycle(self) -> __Cycle<T> { __Cycle { items: self } }
    fn split_at(self, at: i64) -> (Vec<T>, Vec<T>) { (self.slice(0, at), self.slice(at, self.len())) }
    fn split_first(self) -> Option<(T, Vec<T>)> { if self.is_empty() { None } else { Some((self[0], self.slice(1, self.len()))) } }
    fn split_last(self) -> Option<(T, Vec<T>)> {
        let n = self.len();
        if n == 0 { None } else { Some((self[n - 1], self.slice(0, n - 1))) }
    }
    fn split(self, f: fn(T) -> bool) -> Vec<Vec<T>> {
        let mut out: Vec<Vec<T>> = Vec::new();
        let mut part: Vec<T> = Vec::new();
        for v in self { if f(v) { out.push(part); part = Vec::new(); } else { part.push(v); } }
        out.push(part);
        out
    }
    fn split_off(self, at: i64) -> Vec<T> { let rest = self.slice(at, self.len()); self.truncate(at); rest }
    fn drain(self, from: i64, to: i64) -> Vec<T> {
        let taken = self.slice(from, to);
        self = self.slice(0, from).chain(self.slice(to, self.len()));
        taken
    }
    fn swap_remove(self, at: i64) -> T {
        let n = self.len() - 1;
        let v = self[at];
        self[at] = self[n];
        self.__pop();
        v
    }
    fn resize(self, n: i64, value: T) { self.truncate(n); if self.len() < n { self.push(value); self.__fill(n); } }
    fn rotate_left(self, n: i64) { self = self.slice(n, self.len()).chain(self.slice(0, n)); }
    fn rotate_right(self, n: i64) { self.rotate_left(self.len() - n); }
    fn __order(self, other: Vec<T>) -> Ordering {
        if self.len() != other.len() { return self.len().cmp(other.len()) }
        for i in 0..self.len() { let o = self[i].cmp(other[i]); if o != Ordering::Equal { return o } }
        Ordering::Equal
    }
    fn rchunks(self, n: i64) -> Vec<Vec<T>> {
        let mut out: Vec<Vec<T>> = Vec::new();
        let mut end = self.len();
        while end > 0 {
            let start = if end > n { end - n } else { 0 };
            out.push(self.slice(start, end));
            end = start;
        }
        out
    }
    fn chunks_exact(self, n: i64) -> Vec<Vec<T>> { self.slice(0, self.len() / n * n).chunks(n) }
    fn binary_search(self, wanted: T) -> Result<i64, i64> { self.binary_search_by(|v| v.cmp(wanted)) }
    fn binary_search_by(self, order: fn(T) -> Ordering) -> Result<i64, i64> {
        let mut low = 0;
        let mut high = self.len();
        while low < high {
            let middle = low + (high - low) / 2;
            match order(self[middle]) {
                Ordering::Equal => { return Ok(middle); }
                Ordering::Less => { low = middle + 1; }
                Ordering::Greater => { high = middle; }
            }
        }
        Err(low)
    }
    fn partition_point(self, f: fn(T) -> bool) -> i64 {
        let mut low = 0;
        let mut high = self.len();
        while low < high { let middle = low + (high - low) / 2; if f(self[middle]) { low = middle + 1; } else { high = middle; } }
        low
    }
    fn is_sorted(self) -> bool { for i in 1..self.len() { if self[i] < self[i - 1] { return false } } true }
    fn dedup_by_key<K>(self, key: fn(T) -> K) {
        let mut out: Vec<T> = Vec::new();
        for i in 0..self.len() { if i == 0 || key(self[i]) != key(self[i - 1]) { out.push(self[i]); } }
        self = out;
    }
    fn sort_unstable(self) { self.sort(); }
    fn sort_unstable_by(self, order: fn(T, T) -> Ordering) { self.sort_by(order); }
    fn sort_unstable_by_key<K>(self, key: fn(T) -> K) { self.sort_by_key(key); }
    fn sort_by_cached_key<K>(self, key: fn(T) -> K) { self.sort_by_key(key); }
    fn starts_with(self, start: Vec<T>) -> bool { self.len() >= start.len() && self.slice(0, start.len()) == start }
    fn ends_with(self, end: Vec<T>) -> bool { self.len() >= end.len() && self.slice(self.len() - end.len(), self.len()) == end }
    fn repeat(self, n: i64) -> Vec<T> { let mut out: Vec<T> = Vec::new(); for i in 0..n { out.extend(self); } out }
    fn copy_from_slice(self, other: Vec<T>) { for i in 0..self.len() { self[i] = other[i]; } }
    fn clone_from_slice(self, other: Vec<T>) { for i in 0..self.len() { self[i] = other[i]; } }
    fn __put(self, from: i64, part: Vec<T>) { for i in 0..part.len() { self[from + i] = part[i]; } }
    fn capacity(self) -> i64 { self.len() }
    fn reserve(self, n: i64) { }
    fn shrink_to_fit(self) { }
    fn __zip_from(self, low: i64) -> Vec<(T, i64)> {
        let mut out: Vec<(T, i64)> = Vec::new();
        for i in 0..self.len() { out.push((self[i], low + i)); }
        out
    }
    fn last_index(self) -> i64 { self.len() - 1 }
    fn size_hint(self) -> (i64, Option<i64>) { (self.len(), Some(self.len())) }
}
struct __Cycle<T> { items: Vec<T> }
impl<T> __Cycle<T> {
    fn take(self, n: i64) -> Vec<T> { let mut out: Vec<T> = Vec::new(); for i in 0..n { out.push(self.items[i % self.items.len()]); } out }
    fn skip(self, n: i64) -> __Cycle<T> { let k = n % self.items.len(); __Cycle { items: self.items.slice(k, self.items.len()).chain(self.items.slice(0, k)) } }
    fn zip<U>(self, other: Vec<U>) -> Vec<(T, U)> { self.take(other.len()).zip(other) }
    fn next(self) -> Option<T> { if self.items.is_empty() { return None } let v = self.items[0]; self.items.rotate_left(1); Some(v) }
}
impl<A, B> Vec<(A, B)> {
    fn unzip(self) -> (Vec<A>, Vec<B>) {
        let mut left: Vec<A> = Vec::new();
        let mut right: Vec<B> = Vec::new();
        for (a, b) in self { left.push(a); right.push(b); }
        (left, right)
    }
}
impl<T> Vec<Option<T>> {
    fn __whole(self) -> Option<Vec<T>> {
        let mut out: Vec<T> = Vec::new();
        for o in self { match o { Some(v) => { out.push(v); } None => { return None; } } }
        Some(out)
    }
    fn flatten(self) -> Vec<T> {
        let mut out: Vec<T> = Vec::new();
        for o in self { match o { Some(v) => { out.push(v); } None => { } } }
        out
    }
}
impl<T, E> Vec<Result<T, E>> {
    fn __whole(self) -> Result<Vec<T>, E> {
        let mut out: Vec<T> = Vec::new();
        for r in self { match r { Ok(v) => { out.push(v); } Err(e) => { return Err(e); } } }
        Ok(out)
    }
    fn flatten(self) -> Vec<T> {
        let mut out: Vec<T> = Vec::new();
        for r in self { match r { Ok(v) => { out.push(v); } Err(_) => { } } }
        out
    }
}
impl Vec<char> {
    fn __text_of(self) -> String { let mut out = ""; for c in self { out = out + c.to_string(); } out }
    fn as_str(self) -> String { self.__text_of() }
    fn to_string(self) -> String { self.__text_of() }
}
impl Vec<String> { fn __text_of(self) -> String { self.join("") } fn concat(self) -> String { self.join("") } }
impl Vec<i64> { fn __utf8(self) -> String { let mut out = ""; for b in self { out = out + (b as u8 as char).to_string(); } out } }
impl Vec<u8> { fn __utf8(self) -> String { let mut out = ""; for b in self { out = out + (b as char).to_string(); } out } }
impl char {
    fn is_ascii_alphanumeric(self) -> bool { self.is_ascii_alphabetic() || self.is_ascii_digit() }
    fn is_ascii_uppercase(self) -> bool { self >= 'A' && self <= 'Z' }
    fn is_ascii_lowercase(self) -> bool { self >= 'a' && self <= 'z' }
    fn is_ascii_whitespace(self) -> bool { self.is_whitespace() }
    fn is_ascii_hexdigit(self) -> bool { self.is_ascii_digit() || (self >= 'a' && self <= 'f') || (self >= 'A' && self <= 'F') }
    fn is_ascii(self) -> bool { (self as i64) < 128 }
    fn is_control(self) -> bool { (self as i64) < 32 }
    fn len_utf8(self) -> i64 { let n = self as i64; if n < 128 { 1 } else { if n < 2048 { 2 } else { if n < 65536 { 3 } else { 4 } } } }
    fn eq_ignore_ascii_case(self, o: char) -> bool { self.to_ascii_lowercase() == o.to_ascii_lowercase() }
}
impl u8 {
    fn is_ascii_digit(self) -> bool { (self as char).is_ascii_digit() }
    fn is_ascii_alphabetic(self) -> bool { (self as char).is_ascii_alphabetic() }
    fn is_ascii_alphanumeric(self) -> bool { (self as char).is_ascii_alphanumeric() }
    fn is_ascii_uppercase(self) -> bool { (self as char).is_ascii_uppercase() }
    fn is_ascii_lowercase(self) -> bool { (self as char).is_ascii_lowercase() }
    fn is_ascii_whitespace(self) -> bool { (self as char).is_whitespace() }
    fn is_ascii_punctuation(self) -> bool { (self as char).is_ascii_punctuation() }
    fn to_ascii_uppercase(self) -> u8 { if self.is_ascii_lowercase() { self - 32 } else { self } }
    fn to_ascii_lowercase(self) -> u8 { if self.is_ascii_uppercase() { self + 32 } else { self } }
}
impl String {
    fn find(self, wanted: String) -> Option<i64> { let at = self.index_of(wanted); if at < 0 { None } else { Some(at) } }
    fn rfind(self, wanted: String) -> Option<i64> {
        let n = wanted.len();
        for i in 0..self.len() - n + 1 { let at = self.len() - n - i; if self.substring(at, at + n) == wanted { return Some(at) } }
        None
    }
    fn find(self, f: fn(char) -> bool) -> Option<i64> { self.chars().position(f) }
    fn split(self, f: fn(char) -> bool) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let mut part = "";
        for c in self.chars() { if f(c) { out.push(part); part = ""; } else { part = part + c.to_string(); } }
        out.push(part);
        out
    }
    fn split(self, all: Vec<char>) -> Vec<String> { self.split(|c| all.contains(c)) }
    fn contains(self, f: fn(char) -> bool) -> bool { self.chars().any(f) }
    fn starts_with(self, f: fn(char) -> bool) -> bool { self.len() > 0 && f(self.char_at(0)) }
    fn ends_with(self, f: fn(char) -> bool) -> bool { self.len() > 0 && f(self.char_at(self.len() - 1)) }
    fn trim_matches(self, f: fn(char) -> bool) -> String { self.trim_start_matches(f).trim_end_matches(f) }
    fn trim_start_matches(self, f: fn(char) -> bool) -> String { let mut i = 0; while i < self.len() && f(self.char_at(i)) { i += 1; } self.substring(i, self.len()) }
    fn trim_end_matches(self, f: fn(char) -> bool) -> String { let mut n = self.len(); while n > 0 && f(self.char_at(n - 1)) { n -= 1; } self.substring(0, n) }
    fn replace(self, all: Vec<char>, by: String) -> String { let mut out = ""; for c in self.chars() { if all.contains(c) { out = out + by; } else { out = out + c.to_string(); } } out }
    fn trim_start(self) -> String { let mut i = 0; while i < self.len() && self.char_at(i).is_whitespace() { i += 1; } self.substring(i, self.len()) }
    fn trim_end(self) -> String { let mut n = self.len(); while n > 0 && self.char_at(n - 1).is_whitespace() { n -= 1; } self.substring(0, n) }
    fn __trim_left(self, c: char) -> String { let mut i = 0; while i < self.len() && self.char_at(i) == c { i += 1; } self.substring(i, self.len()) }
    fn __trim_right(self, c: char) -> String { let mut n = self.len(); while n > 0 && self.char_at(n - 1) == c { n -= 1; } self.substring(0, n) }
    fn trim_start_matches(self, c: char) -> String { self.__trim_left(c) }
    fn trim_start_matches(self, s: &str) -> String { let mut t = self; while s.len() > 0 && t.starts_with(s) { t = t.substring(s.len(), t.len()); } t }
    fn trim_end_matches(self, s: &str) -> String { let mut t = self; while s.len() > 0 && t.ends_with(s) { t = t.substring(0, t.len() - s.len()); } t }
    fn trim_end_matches(self, c: char) -> String { self.__trim_right(c) }
    fn trim_matches(self, c: char) -> String { self.__trim_left(c).__trim_right(c) }
    fn replacen(self, from: String, to: String, n: i64) -> String {
        let mut out = "";
        let mut rest = self;
        let mut left = n;
        while left > 0 {
            let at = rest.index_of(from);
            if at < 0 { return out + rest }
            out = out + rest.substring(0, at) + to;
            rest = rest.substring(at + from.len(), rest.len());
            left -= 1;
        }
        out + rest
    }
    fn splitn(self, n: i64, by: String) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let mut rest = self;
        while out.len() < n - 1 {
            let at = rest.index_of(by);
            if at < 0 { out.push(rest); return out }
            out.push(rest.substring(0, at));
            rest = rest.substring(at + by.len(), rest.len());
        }
        out.push(rest);
        out
    }
    fn split_once(self, by: String) -> Option<(String, String)> {
        let at = self.index_of(by);
        if at < 0 { None } else { Some((self.substring(0, at), self.substring(at + by.len(), self.len()))) }
    }
    fn rsplit_once(self, by: String) -> Option<(String, String)> {
        match self.rfind(by) { Some(at) => Some((self.substring(0, at), self.substring(at + by.len(), self.len()))), None => None }
    }
    fn rsplit(self, by: String) -> Vec<String> { self.split(by).rev() }
    fn split_terminator(self, by: String) -> Vec<String> { let mut out = self.split(by); if out.len() > 0 && out[out.len() - 1].is_empty() { out.__pop(); } out }
    fn split_at(self, at: i64) -> (String, String) { (self.substring(0, at), self.substring(at, self.len())) }
    fn strip_prefix(self, start: String) -> Option<String> { if self.starts_with(start) { Some(self.substring(start.len(), self.len())) } else { None } }
    fn strip_suffix(self, end: String) -> Option<String> { if self.ends_with(end) { Some(self.substring(0, self.len() - end.len())) } else { None } }
    fn matches(self, wanted: String) -> Vec<String> {
        let n = self.split(wanted).len() - 1;
        let mut out: Vec<String> = Vec::new();
        for i in 0..n { out.push(wanted); }
        out
    }
    fn char_indices(self) -> Vec<(i64, char)> {
        let mut out: Vec<(i64, char)> = Vec::new();
        let mut at = 0;
        for c in self.chars() { out.push((at, c)); at += 1; }
        out
    }
    fn bytes(self) -> Vec<u8> {
        let mut out: Vec<u8> = Vec::new();
        for c in self.chars() {
            let n = c as i64;
            if n < 128 { out.push(n as u8); } else { if n < 2048 { out.push((192 + (n >> 6)) as u8); } else {
                if n < 65536 { out.push((224 + (n >> 12)) as u8); out.push((128 + ((n >> 6) & 63)) as u8); } else {
                    out.push((240 + (n >> 18)) as u8); out.push((128 + ((n >> 12) & 63)) as u8); out.push((128 + ((n >> 6) & 63)) as u8); } }
                out.push((128 + (n & 63)) as u8); }
        }
        out
    }
    fn as_bytes(self) -> Vec<u8> { self.bytes() }
    fn into_bytes(self) -> Vec<u8> { self.bytes() }
    fn to_ascii_uppercase(self) -> String { self.to_uppercase() }
    fn to_ascii_lowercase(self) -> String { self.to_lowercase() }
    fn eq_ignore_ascii_case(self, o: String) -> bool { self.to_lowercase() == o.to_lowercase() }
    fn pop(self) -> Option<char> {
        if self.is_empty() { return None }
        let c = self.char_at(self.len() - 1);
        self = self.substring(0, self.len() - 1);
        Some(c)
    }
    fn clear(self) { self = ""; }
    fn truncate(self, n: i64) { self = self.substring(0, n.min(self.len())); }
    fn insert(self, at: i64, c: char) { self = self.substring(0, at) + c.to_string() + self.substring(at, self.len()); }
    fn insert_str(self, at: i64, s: String) { self = self.substring(0, at) + s + self.substring(at, self.len()); }
    fn remove(self, at: i64) -> char { let c = self.char_at(at); self = self.substring(0, at) + self.substring(at + 1, self.len()); c }
    fn extend(self, more: Vec<char>) { self = self + more.__text_of(); }
    fn is_char_boundary(self, at: i64) -> bool { at <= self.len() }
    fn capacity(self) -> i64 { self.len() }
    fn __radix(self, base: i64) -> Result<i64, String> {
        let mut n = 0;
        let mut digits = 0;
        let negative = self.starts_with("-");
        for (i, c) in self.chars().enumerate() {
            if i == 0 && (c == '-' || c == '+') { continue }
            match c.to_digit(base) { Some(d) => { n = n * base + d; digits += 1; } None => { return Err("invalid digit found in string"); } }
        }
        if digits == 0 { return Err("cannot parse integer from empty string") }
        Ok(if negative { -n } else { n })
    }
    fn __parse_bool(self) -> Result<bool, String> {
        if self == "true" { Ok(true) } else { if self == "false" { Ok(false) } else { Err("provided string was not `true` or `false`") } } }
    fn __parse_char(self) -> Result<char, String> {
        if self.len() == 1 { Ok(self.char_at(0)) } else { Err("too many characters in string") } }
}
);
/* clang-format on */
const size_t prelude_more_length = sizeof prelude_more_text - 1;

const prelude_part prelude_parts[] = {
    {{"#?"}, prelude_lines_text, &prelude_lines_length},
    {{"Map", "Set", "VecDeque", "BinaryHeap"}, prelude_maps_text, &prelude_maps_length},
    {{"i32"}, prelude_i32_text, &prelude_i32_length},
    {{"u32"}, prelude_u32_text, &prelude_u32_length},
    {{"usize"}, prelude_usize_text, &prelude_usize_length},
    {{"u64"}, prelude_u64_text, &prelude_u64_length},
    {{"u8", "b'", "b\"", "bytes"}, prelude_u8_text, &prelude_u8_length},
    {{"i8"}, prelude_i8_text, &prelude_i8_length},
    {{"i16"}, prelude_i16_text, &prelude_i16_length},
    {{"u16"}, prelude_u16_text, &prelude_u16_length},
    {{"KVCache"}, kv_cache_text, &(const size_t){sizeof kv_cache_text - 1}},
    {{"cosh", "sinh", "tanh", "cbrt", "_m1", "_1p", "copysign", "euclid", "is_sign", "is_inf"},
     prelude_reals_text,
     &prelude_reals_length},
    {{"silu", "gelu", "softplus", "elu", "sign", "square"},
     prelude_activations_text,
     &prelude_activations_length},
    {{"tl_", "Device", "print", "display", "adam_step", "read_line"},
     prelude_older_text,
     &prelude_older_length},
};
const size_t prelude_part_count = sizeof prelude_parts / sizeof prelude_parts[0];
