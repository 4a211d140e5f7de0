/* prelude_maps.c: HashMap, HashSet, BTreeMap, BTreeSet, VecDeque and BinaryHeap, written in the language itself.
 *
 * A HashMap keeps its pairs in the order of their insertion, and a table of their indices by hash; what is removed is
 * replaced by the last pair. A BTreeMap keeps its pairs sorted. A VecDeque is a Vec whose front may be empty. So each
 * of them is a value like any other, and `&mut` of an element is a place in a Vec (check_freeze.c).
 */
#include "language/front/prelude.h"

#define TEXT(...) #__VA_ARGS__ "\n"

/* clang-format off */
/* What both maps answer in the same way, beside __probe, __slot, remove. */
#define MAP(M) TEXT(                                                                                                 \
impl<K, V> M<K, V> {                                                                                                 \
    fn len(self) -> i64 { self.keys.len() }                                                                          \
    fn is_empty(self) -> bool { self.keys.is_empty() }                                                               \
    fn __place(self, key: K) -> i64 { match self.__find(key) { Some(at) => at, None => panic("the map has no such key") } } \
    fn index(self, key: K) -> V { self.values[self.__place(key)] }                                                   \
    fn get(self, key: K) -> Option<V> { match self.__find(key) { Some(at) => Some(self.values[at]), None => None } } \
    fn contains_key(self, key: K) -> bool { self.__find(key).is_some() }                                             \
    fn get_key_value(self, key: K) -> Option<(K, V)> { match self.__find(key) { Some(at) => Some((self.keys[at], self.values[at])), None => None } } \
    fn insert(self, key: K, value: V) -> Option<V> {                                                                 \
        let n = self.keys.len();                                                                                     \
        let at = self.__slot(key, value);                                                                            \
        if self.keys.len() > n { return None }                                                                       \
        let old = self.values[at];                                                                                   \
        self.values[at] = value;                                                                                     \
        Some(old)                                                                                                    \
    }                                                                                                                \
    fn __slot_with(self, key: K, f: fn() -> V) -> i64 { match self.__find(key) { Some(at) => at, None => self.__slot(key, f()) } } \
    fn __slot_default(self, key: K) -> i64 { match self.__find(key) { Some(at) => at, None => self.__slot(key, Default::default()) } } \
    fn remove_entry(self, key: K) -> Option<(K, V)> { match self.remove(key) { Some(v) => Some((key, v)), None => None } } \
    fn keys(self) -> Vec<K> { self.keys }                                                                            \
    fn into_keys(self) -> Vec<K> { self.keys }                                                                       \
    fn values(self) -> Vec<V> { self.values }                                                                        \
    fn into_values(self) -> Vec<V> { self.values }                                                                   \
    fn iter(self) -> Vec<(K, V)> { self.keys.zip(self.values) }                                                      \
    fn into_iter(self) -> Vec<(K, V)> { self.keys.zip(self.values) }                                                 \
    fn drain(self) -> Vec<(K, V)> { let all = self.iter(); self.clear(); all }                                       \
    fn extend(self, more: Vec<(K, V)>) { for (k, v) in more { self.insert(k, v); } }                                 \
    fn from(pairs: Vec<(K, V)>) -> M<K, V> { let mut out: M<K, V> = M::new(); out.extend(pairs); out }               \
    fn from_iter(pairs: Vec<(K, V)>) -> M<K, V> { M::from(pairs) }                                                   \
    fn retain(self, f: fn(K, &mut V) -> bool) {                                                                      \
        let mut out: M<K, V> = M::new();                                                                             \
        for (k, v) in self.iter() { let mut w = v; if f(k, &mut w) { out.insert(k, w); } }                           \
        self = out;                                                                                                  \
    }                                                                                                                \
    fn eq(self, other: M<K, V>) -> bool {                                                                            \
        if self.len() != other.len() { return false }                                                                \
        for i in 0..self.len() {                                                                                     \
            match other.__find(self.keys[i]) { Some(at) => { if other.values[at] != self.values[i] { return false; } } None => { return false; } } } \
        true                                                                                                         \
    }                                                                                                                \
    fn __shown(self, how: i64) -> String {                                                                           \
        let mut out = "{";                                                                                           \
        for i in 0..self.keys.len() {                                                                                \
            if i > 0 { out = out + ", "; }                                                                           \
            out = out + format("{:?}: {:?}", self.keys[i], self.values[i]);                                          \
        }                                                                                                            \
        out + "}"                                                                                                    \
    }                                                                                                                \
})
#define SET(S, M) TEXT(                                                                                              \
struct S<T> { map: M<T, bool> }                                                                                      \
impl<T> S<T> {                                                                                                       \
    fn new() -> S<T> { S { map: M::new() } }                                                                         \
    fn with_capacity(n: i64) -> S<T> { S { map: M::new() } }                                                         \
    fn len(self) -> i64 { self.map.keys.len() }                                                                      \
    fn is_empty(self) -> bool { self.map.keys.is_empty() }                                                           \
    fn clear(self) { self.map.clear(); }                                                                             \
    fn contains(self, v: T) -> bool { self.map.__find(v).is_some() }                                                 \
    fn get(self, v: T) -> Option<T> { if self.contains(v) { Some(v) } else { None } }                                \
    fn insert(self, v: T) -> bool { let n = self.len(); self.map.__slot(v, true); self.len() > n }                   \
    fn remove(self, v: T) -> bool { self.map.remove(v).is_some() }                                                   \
    fn take(self, v: T) -> Option<T> { if self.remove(v) { Some(v) } else { None } }                                 \
    fn iter(self) -> Vec<T> { self.map.keys }                                                                        \
    fn into_iter(self) -> Vec<T> { self.map.keys }                                                                   \
    fn drain(self) -> Vec<T> { let all = self.map.keys; self.clear(); all }                                          \
    fn extend(self, more: Vec<T>) { for v in more { self.insert(v); } }                                              \
    fn from(all: Vec<T>) -> S<T> { let mut out: S<T> = S::new(); out.extend(all); out }                              \
    fn from_iter(all: Vec<T>) -> S<T> { S::from(all) }                                                               \
    fn retain(self, f: fn(T) -> bool) { let mut out: S<T> = S::new(); for v in self.map.keys { if f(v) { out.insert(v); } } self = out; } \
    fn union(self, o: S<T>) -> Vec<T> { let mut all = self; all.extend(o.map.keys); all.map.keys }                   \
    fn intersection(self, o: S<T>) -> Vec<T> { let mut out: Vec<T> = Vec::new(); for v in self.map.keys { if o.contains(v) { out.push(v); } } out } \
    fn difference(self, o: S<T>) -> Vec<T> { let mut out: Vec<T> = Vec::new(); for v in self.map.keys { if !o.contains(v) { out.push(v); } } out } \
    fn symmetric_difference(self, o: S<T>) -> Vec<T> { self.difference(o).chain(o.difference(self)) }                \
    fn is_subset(self, o: S<T>) -> bool { for v in self.map.keys { if !o.contains(v) { return false } } true }       \
    fn is_superset(self, o: S<T>) -> bool { o.is_subset(self) }                                                      \
    fn is_disjoint(self, o: S<T>) -> bool { self.intersection(o).is_empty() }                                        \
    fn eq(self, o: S<T>) -> bool { self.len() == o.len() && self.is_subset(o) }                                      \
    fn __shown(self, how: i64) -> String {                                                                           \
        let mut out = "{";                                                                                           \
        for i in 0..self.len() { if i > 0 { out = out + ", "; } out = out + format("{:?}", self.map.keys[i]); }      \
        out + "}"                                                                                                    \
    }                                                                                                                \
})

const char prelude_maps_text[] =
TEXT(
struct HashMap<K, V> { keys: Vec<K>, values: Vec<V>, table: Vec<i64> }
impl<K, V> HashMap<K, V> {
    fn new() -> HashMap<K, V> { HashMap { keys: Vec::new(), values: Vec::new(), table: Vec::new() } }
    fn with_capacity(n: i64) -> HashMap<K, V> { HashMap { keys: Vec::new(), values: Vec::new(), table: Vec::new() } }
    fn clear(self) { self.keys = Vec::new(); self.values = Vec::new(); self.table = Vec::new(); }
    fn __probe(self, key: K) -> i64 {
        let mask = self.table.len() - 1;
        let mut at = key.__hash() & mask;
        while self.table[at] >= 0 && self.keys[self.table[at]] != key { at = (at + 1) & mask; }
        at
    }
    fn __find(self, key: K) -> Option<i64> {
        if self.keys.is_empty() { return None }
        let at = self.table[self.__probe(key)];
        if at < 0 { None } else { Some(at) }
    }
    fn __fill(self, n: i64) {
        self.table = Vec::new();
        for i in 0..n { self.table.push(-1); }
        for i in 0..self.keys.len() { let at = self.__probe(self.keys[i]); self.table[at] = i; }
    }
    fn __slot(self, key: K, value: V) -> i64 {
        if (self.keys.len() + 1) * 2 > self.table.len() { self.__fill((self.table.len() * 2).max(8)); }
        let at = self.__probe(key);
        if self.table[at] >= 0 { return self.table[at] }
        self.table[at] = self.keys.len();
        self.keys.push(key);
        self.values.push(value);
        self.keys.len() - 1
    }
    fn __close_gap(self, from: i64) {
        let mask = self.table.len() - 1;
        let mut gap = from;
        let mut at = (from + 1) & mask;
        self.table[gap] = -1;
        while self.table[at] >= 0 {
            let home = self.keys[self.table[at]].__hash() & mask;
            if ((at - home) & mask) >= ((at - gap) & mask) { self.table[gap] = self.table[at]; self.table[at] = -1; gap = at; }
            at = (at + 1) & mask;
        }
    }
    fn remove(self, key: K) -> Option<V> {
        if self.keys.is_empty() { return None }
        let at = self.__probe(key);
        let entry = self.table[at];
        if entry < 0 { return None }
        self.__close_gap(at);
        let last = self.keys.len() - 1;
        if entry != last { let moved = self.__probe(self.keys[last]); self.table[moved] = entry; }
        self.keys.swap_remove(entry);
        Some(self.values.swap_remove(entry))
    }
}
struct BTreeMap<K, V> { keys: Vec<K>, values: Vec<V> }
impl<K, V> BTreeMap<K, V> {
    fn new() -> BTreeMap<K, V> { BTreeMap { keys: Vec::new(), values: Vec::new() } }
    fn clear(self) { self.keys = Vec::new(); self.values = Vec::new(); }
    fn __find(self, key: K) -> Option<i64> { self.keys.binary_search(key).ok() }
    fn __slot(self, key: K, value: V) -> i64 {
        match self.keys.binary_search(key) {
            Ok(at) => at,
            Err(at) => { self.keys.insert(at, key); self.values.insert(at, value); at }
        }
    }
    fn remove(self, key: K) -> Option<V> {
        match self.keys.binary_search(key) {
            Ok(at) => { self.keys.remove(at); Some(self.values.remove(at)) }
            Err(_) => None
        }
    }
    fn __pair(self, at: i64) -> Option<(K, V)> { if at >= 0 && at < self.keys.len() { Some((self.keys[at], self.values[at])) } else { None } }
    fn first_key_value(self) -> Option<(K, V)> { self.__pair(0) }
    fn last_key_value(self) -> Option<(K, V)> { self.__pair(self.keys.len() - 1) }
    fn pop_first(self) -> Option<(K, V)> { let p = self.__pair(0); if p.is_some() { self.keys.remove(0); self.values.remove(0); } p }
    fn pop_last(self) -> Option<(K, V)> { let p = self.__pair(self.keys.len() - 1); if p.is_some() { self.keys.__pop(); self.values.__pop(); } p }
    fn __from(self, from: K) -> Vec<(K, V)> {
        let low = self.keys.partition_point(|k| k < from);
        self.keys.slice(low, self.len()).zip(self.values.slice(low, self.len()))
    }
    fn __until(self, to: K) -> Vec<(K, V)> {
        let high = self.keys.partition_point(|k| k < to);
        self.keys.slice(0, high).zip(self.values.slice(0, high))
    }
    fn __until_with(self, to: K) -> Vec<(K, V)> {
        let high = self.keys.partition_point(|k| k <= to);
        self.keys.slice(0, high).zip(self.values.slice(0, high))
    }
    fn __between(self, from: K, to: K) -> Vec<(K, V)> {
        let low = self.keys.partition_point(|k| k < from);
        let high = self.keys.partition_point(|k| k < to);
        self.keys.slice(low, high).zip(self.values.slice(low, high))
    }
}
)
MAP(HashMap) MAP(BTreeMap) SET(HashSet, HashMap) SET(BTreeSet, BTreeMap)
TEXT(
impl<T> BTreeSet<T> {
    fn first(self) -> Option<T> { if self.is_empty() { None } else { Some(self.map.keys[0]) } }
    fn last(self) -> Option<T> { if self.is_empty() { None } else { Some(self.map.keys[self.len() - 1]) } }
    fn pop_first(self) -> Option<T> { match self.map.pop_first() { Some(p) => Some(p.0), None => None } }
    fn pop_last(self) -> Option<T> { match self.map.pop_last() { Some(p) => Some(p.0), None => None } }
}
struct VecDeque<T> { items: Vec<T>, head: i64 }
impl<T> VecDeque<T> {
    fn new() -> VecDeque<T> { VecDeque { items: Vec::new(), head: 0 } }
    fn with_capacity(n: i64) -> VecDeque<T> { VecDeque { items: Vec::new(), head: 0 } }
    fn from(all: Vec<T>) -> VecDeque<T> { VecDeque { items: all, head: 0 } }
    fn from_iter(all: Vec<T>) -> VecDeque<T> { VecDeque { items: all, head: 0 } }
    fn len(self) -> i64 { self.items.len() - self.head }
    fn is_empty(self) -> bool { self.items.len() == self.head }
    fn clear(self) { self.items = Vec::new(); self.head = 0; }
    fn push_back(self, v: T) { self.items.push(v); }
    fn push_front(self, v: T) {
        if self.head == 0 {
            let room = self.items.len() + 4;
            let mut moved: Vec<T> = Vec::new();
            for i in 0..room { moved.push(v); }
            moved.extend(self.items);
            self.items = moved;
            self.head = room;
        }
        self.head -= 1;
        self.items[self.head] = v;
    }
    fn pop_back(self) -> Option<T> { if self.is_empty() { None } else { Some(self.items.__pop()) } }
    fn pop_front(self) -> Option<T> {
        if self.is_empty() { return None }
        let v = self.items[self.head];
        self.head += 1;
        if self.head == self.items.len() { self.clear(); } else {
            if self.head > 16 && self.head * 2 > self.items.len() { self.items = self.items.slice(self.head, self.items.len()); self.head = 0; } }
        Some(v)
    }
    fn front(self) -> Option<T> { if self.is_empty() { None } else { Some(self.items[self.head]) } }
    fn back(self) -> Option<T> { if self.is_empty() { None } else { Some(self.items[self.items.len() - 1]) } }
    fn get(self, i: i64) -> Option<T> { if i >= 0 && i < self.len() { Some(self.items[self.head + i]) } else { None } }
    fn index(self, i: i64) -> T { self.items[self.head + i] }
    fn iter(self) -> Vec<T> { self.items.slice(self.head, self.items.len()) }
    fn into_iter(self) -> Vec<T> { self.iter() }
    fn drain(self) -> Vec<T> { let all = self.iter(); self.clear(); all }
    fn contains(self, v: T) -> bool { self.iter().contains(v) }
    fn extend(self, more: Vec<T>) { self.items.extend(more); }
    fn remove(self, i: i64) -> Option<T> { if i < self.len() { Some(self.items.remove(self.head + i)) } else { None } }
    fn insert(self, i: i64, v: T) { self.items.insert(self.head + i, v); }
    fn truncate(self, n: i64) { self.items.truncate(self.head + n); }
    fn swap(self, i: i64, j: i64) { self.items.swap(self.head + i, self.head + j); }
    fn rotate_left(self, n: i64) { let mut all = self.iter(); all.rotate_left(n); self.items = all; self.head = 0; }
    fn rotate_right(self, n: i64) { self.rotate_left(self.len() - n); }
    fn eq(self, o: VecDeque<T>) -> bool { self.iter() == o.iter() }
    fn __shown(self, how: i64) -> String { format("{:?}", self.iter()) }
}
struct BinaryHeap<T> { items: Vec<T> }
impl<T> BinaryHeap<T> {
    fn new() -> BinaryHeap<T> { BinaryHeap { items: Vec::new() } }
    fn with_capacity(n: i64) -> BinaryHeap<T> { BinaryHeap { items: Vec::new() } }
    fn from(all: Vec<T>) -> BinaryHeap<T> { let mut out: BinaryHeap<T> = BinaryHeap::new(); for v in all { out.push(v); } out }
    fn from_iter(all: Vec<T>) -> BinaryHeap<T> { BinaryHeap::from(all) }
    fn len(self) -> i64 { self.items.len() }
    fn is_empty(self) -> bool { self.items.is_empty() }
    fn clear(self) { self.items = Vec::new(); }
    fn peek(self) -> Option<T> { if self.items.is_empty() { None } else { Some(self.items[0]) } }
    fn push(self, v: T) {
        self.items.push(v);
        let mut at = self.items.len() - 1;
        while at > 0 && self.items[(at - 1) / 2] < self.items[at] { self.items.swap(at, (at - 1) / 2); at = (at - 1) / 2; }
    }
    fn pop(self) -> Option<T> {
        let n = self.items.len();
        if n == 0 { return None }
        let top = self.items.swap_remove(0);
        let mut at = 0;
        loop {
            let mut largest = at;
            for child in 2 * at + 1..2 * at + 3 { if child < n - 1 && self.items[largest] < self.items[child] { largest = child; } }
            if largest == at { return Some(top) }
            self.items.swap(at, largest);
            at = largest;
        }
    }
    fn iter(self) -> Vec<T> { self.items }
    fn into_iter(self) -> Vec<T> { self.items }
    fn into_vec(self) -> Vec<T> { self.items }
    fn into_sorted_vec(self) -> Vec<T> { let mut all = self.items; all.sort(); all }
    fn extend(self, more: Vec<T>) { for v in more { self.push(v); } }
    fn drain(self) -> Vec<T> { let all = self.items; self.clear(); all }
    fn __shown(self, how: i64) -> String { format("{:?}", self.items) }
}
);
/* clang-format on */
const size_t prelude_maps_length = sizeof prelude_maps_text - 1;
