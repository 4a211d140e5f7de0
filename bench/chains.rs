// chains.rs: chains of iterators beside the loops that say the same, as Rust's compiler takes them too:
//
//     masu run bench/chains.rs [N]                                  nanoseconds an element, least of seven turns, ratio
//     rustc -O bench/chains.rs -o build/chains && build/chains [N]  the same
//
// Each pair computes the same number; the program says so when they differ. Rows of texts and maps have N / 10 elements.

use std::collections::HashMap;
use std::time::Instant;

fn row<A: Fn() -> i64, B: Fn() -> i64>(name: &str, n: usize, chain: A, hand: B) {
    let mut c = 1000000.0f64;
    let mut h = 1000000.0f64;
    for _ in 0..7 {
        let t0 = Instant::now();
        let a = chain();
        let tc = t0.elapsed().as_secs_f64();
        let t1 = Instant::now();
        let b = hand();
        let th = t1.elapsed().as_secs_f64();
        if a != b { println!("{}: the chain says {}, the loop {}", name, a, b); }
        c = c.min(tc);
        h = h.min(th);
    }
    let each = 1000000000.0 / n as f64;
    println!("{:28} {:9.3} {:9.3} {:6.2}", name, c * each, h * each, c / h);
}

fn main() {
    let n: usize = std::env::args().nth(1).map(|a| a.parse().unwrap()).unwrap_or(1000000);
    let v: Vec<i64> = (0..n as i64).map(|i| (i * 7919) % 1000003).collect();
    let w: Vec<i64> = (0..n as i64).map(|i| (i * 104729) % 10007).collect();
    let u: Vec<i64> = (0..n as i64).map(|i| (i * 31) % 977).collect();
    let text: String = (0..n as i64).map(|i| (b'a' + (i * 7 % 26) as u8) as char).collect();
    let words: Vec<String> = (0..n as i64 / 10).map(|i| format!("w{}", i * 7919 % 1000)).collect();

    row("enumerate map sum", n,
        || v.iter().enumerate().map(|(i, e)| i as i64 * e).sum::<i64>(),
        || { let mut s = 0; for i in 0..v.len() { s += i as i64 * v[i]; } s });
    row("chars filter count", n,
        || text.chars().filter(|c| *c == 'e').count() as i64,
        || { let mut s = 0; for c in text.chars() { if c == 'e' { s += 1; } } s });
    row("bytes filter count", n,
        || text.bytes().filter(|c| *c == b'e').count() as i64,
        || { let mut s = 0; for c in text.bytes() { if c == b'e' { s += 1; } } s });
    row("flat_map sum", n,
        || v.iter().flat_map(|e| vec![*e, *e + 1]).sum::<i64>(),
        || { let mut s = 0; for e in &v { for f in vec![*e, *e + 1] { s += f; } } s });
    row("flat_map range sum", n,
        || u.iter().flat_map(|e| 0..*e % 4).sum::<i64>(),
        || { let mut s = 0; for e in &u { for f in 0..*e % 4 { s += f; } } s });
    row("fold of a tuple", n,
        || { let (a, b) = v.iter().fold((0i64, 0i64), |(a, b), e| (a + e, b ^ e)); a + b },
        || { let mut a = 0i64; let mut b = 0i64; for e in &v { a += e; b ^= e; } a + b });
    row("fold min and max", n,
        || { let (a, b) = v.iter().fold((i64::MAX, i64::MIN), |(a, b), &e| (a.min(e), b.max(e))); a + b },
        || { let mut a = i64::MAX; let mut b = i64::MIN; for &e in &v { if e < a { a = e; } if e > b { b = e; } } a + b });
    row("windows map sum", n,
        || v.windows(3).map(|p| p[0] - p[1] + p[2]).sum::<i64>(),
        || { let mut s = 0; for i in 0..v.len() - 2 { s += v[i] - v[i + 1] + v[i + 2]; } s });
    row("chunks map sum", n,
        || v.chunks(8).map(|p| p.iter().sum::<i64>() % 7).sum::<i64>(),
        || { let mut s = 0; let mut i = 0; while i < v.len() { let mut t = 0; let end = if i + 8 < v.len() { i + 8 } else { v.len() }; for j in i..end { t += v[j]; } s += t % 7; i += 8; } s });
    row("zip of three", n,
        || v.iter().zip(w.iter()).zip(u.iter()).map(|((a, b), c)| a * b + c).sum::<i64>(),
        || { let mut s = 0; for i in 0..n { s += v[i] * w[i] + u[i]; } s });
    row("max_by", n,
        || *v.iter().max_by(|a, b| (*a % 1009).cmp(&(*b % 1009))).unwrap(),
        || { let mut m = v[0]; for i in 1..v.len() { if v[i] % 1009 >= m % 1009 { m = v[i]; } } m });
    row("min_by_key", n,
        || *v.iter().min_by_key(|e| (*e - 500000).abs()).unwrap(),
        || { let mut m = v[0]; let mut k = (m - 500000).abs(); for e in &v { let l = (e - 500000).abs(); if l < k { m = *e; k = l; } } m });
    row("any", n,
        || if v.iter().any(|e| *e < 0) { 1 } else { 0 },
        || { let mut s = 0; for e in &v { if *e < 0 { s = 1; break; } } s });
    row("all", n,
        || if v.iter().all(|e| *e >= 0) { 1 } else { 0 },
        || { let mut s = 1; for e in &v { if *e < 0 { s = 0; break; } } s });
    row("map all", n,
        || if v.iter().map(|e| e * 2).all(|e| e >= 0) { 1 } else { 0 },
        || { let mut s = 1; for e in &v { if e * 2 < 0 { s = 0; break; } } s });
    row("position", n,
        || v.iter().position(|e| *e == -1).unwrap_or(7) as i64,
        || { let mut s = 7; for i in 0..v.len() { if v[i] == -1 { s = i as i64; break; } } s });
    row("find", n,
        || *v.iter().find(|e| **e > 2000000).unwrap_or(&5),
        || { let mut s = 5; for e in &v { if *e > 2000000 { s = *e; break; } } s });
    row("iter_mut for_each", n,
        || { let mut a = v.clone(); a.iter_mut().for_each(|e| *e = *e * 3 + 1); a[n - 1] },
        || { let mut a = v.clone(); for i in 0..a.len() { a[i] = a[i] * 3 + 1; } a[n - 1] });
    row("for in iter_mut enumerate", n,
        || { let mut a = v.clone(); for (i, e) in a.iter_mut().enumerate() { *e += i as i64; } a[n - 1] },
        || { let mut a = v.clone(); for i in 0..a.len() { a[i] += i as i64; } a[n - 1] });
    row("into_iter map collect", n,
        || { let a = v.clone(); let b = a.into_iter().map(|e| e + 2).collect::<Vec<_>>(); b[n - 1] },
        || { let a = v.clone(); let mut b = Vec::with_capacity(a.len()); for e in a { b.push(e + 2); } b[n - 1] });
    row("map collect", n,
        || { let b: Vec<i64> = v.iter().map(|e| e + 2).collect(); b[n - 1] },
        || { let mut b = Vec::with_capacity(v.len()); for e in &v { b.push(e + 2); } b[n - 1] });
    row("filter collect", n,
        || { let b: Vec<i64> = v.iter().filter(|e| **e % 2 == 0).cloned().collect(); b.len() as i64 },
        || { let mut b = Vec::new(); for e in &v { if *e % 2 == 0 { b.push(*e); } } b.len() as i64 });
    row("range map collect", n,
        || { let b: Vec<i64> = (0..n as i64).map(|e| e * e).collect(); b[n - 1] },
        || { let mut b = Vec::with_capacity(n); for e in 0..n as i64 { b.push(e * e); } b[n - 1] });
    row("enumerate filter collect", n,
        || { let b: Vec<(usize, i64)> = v.iter().cloned().enumerate().filter(|(i, e)| (*i as i64 + *e) % 3 == 0).collect(); b.len() as i64 },
        || { let mut b = Vec::new(); let mut i = 0usize; for e in &v { if (i as i64 + *e) % 3 == 0 { b.push((i, *e)); } i += 1; } b.len() as i64 });
    row("zip map collect", n,
        || { let b: Vec<i64> = v.iter().zip(w.iter()).map(|(a, b)| a + b).collect(); b[n - 1] },
        || { let mut b = Vec::with_capacity(n); for i in 0..n { b.push(v[i] + w[i]); } b[n - 1] });
    row("chars rev collect", n,
        || { let s: String = text.chars().rev().collect(); s.len() as i64 },
        || { let mut s = String::new(); for c in text.chars().rev() { s.push(c); } s.len() as i64 });
    row("chars map collect", n,
        || { let s: String = text.chars().map(|c| c.to_ascii_uppercase()).collect(); s.len() as i64 },
        || { let mut s = String::new(); for c in text.chars() { s.push(c.to_ascii_uppercase()); } s.len() as i64 });
    row("strings joined", n / 10,
        || words.iter().map(|w| w.as_str()).collect::<Vec<_>>().join(",").len() as i64,
        || { let mut s = String::new(); for i in 0..words.len() { if i > 0 { s.push(','); } s.push_str(&words[i]); } s.len() as i64 });
    row("map to_string collect", n / 10,
        || { let b: Vec<String> = w.iter().take(n / 10).map(|e| e.to_string()).collect(); b.len() as i64 },
        || { let mut b = Vec::with_capacity(n / 10); for i in 0..n / 10 { b.push(w[i].to_string()); } b.len() as i64 });
    row("counts of numbers", n,
        || { let c = u.iter().fold(HashMap::new(), |mut c, e| { *c.entry(*e).or_insert(0i64) += 1; c }); c.len() as i64 },
        || { let mut c: HashMap<i64, i64> = HashMap::new(); for e in &u { *c.entry(*e).or_insert(0) += 1; } c.len() as i64 });
    row("counts of words", n / 10,
        || { let mut c: HashMap<&str, i64> = HashMap::new(); words.iter().for_each(|w| *c.entry(w.as_str()).or_insert(0) += 1); c.len() as i64 },
        || { let mut c: HashMap<&str, i64> = HashMap::new(); for w in &words { *c.entry(w.as_str()).or_insert(0) += 1; } c.len() as i64 });
    row("nested", n,
        || (0..1000i64).map(|i| (0..n as i64 / 1000).filter(|j| (i + j) % 3 == 0).count() as i64).sum::<i64>(),
        || { let mut s = 0; for i in 0..1000i64 { for j in 0..n as i64 / 1000 { if (i + j) % 3 == 0 { s += 1; } } } s });
    row("take_while sum", n,
        || v.iter().take_while(|e| **e >= 0).sum::<i64>(),
        || { let mut s = 0; for e in &v { if *e < 0 { break; } s += e; } s });
    row("skip_while count", n,
        || v.iter().skip_while(|e| **e < 900000).count() as i64,
        || { let mut s = 0; let mut on = false; for e in &v { if !on && *e < 900000 { continue; } on = true; s += 1; } s });
    row("filter_map sum", n,
        || v.iter().filter_map(|e| if e % 2 == 0 { Some(e / 2) } else { None }).sum::<i64>(),
        || { let mut s = 0; for e in &v { if e % 2 == 0 { s += e / 2; } } s });
    row("scan last", n,
        || v.iter().scan(0i64, |s, e| { *s += e; Some(*s) }).last().unwrap(),
        || { let mut s = 0; let mut l = 0; for e in &v { s += e; l = s; } l });
    row("partition", n,
        || { let (a, b): (Vec<i64>, Vec<i64>) = v.iter().partition(|e| **e % 2 == 0); a.len() as i64 - b.len() as i64 },
        || { let mut a = Vec::new(); let mut b = Vec::new(); for e in &v { if *e % 2 == 0 { a.push(*e); } else { b.push(*e); } } a.len() as i64 - b.len() as i64 });
    row("unzip", n,
        || { let (a, b): (Vec<i64>, Vec<i64>) = v.iter().map(|e| (e / 2, e % 2)).unzip(); a[n - 1] + b[n - 1] },
        || { let mut a = Vec::new(); let mut b = Vec::new(); for e in &v { a.push(e / 2); b.push(e % 2); } a[n - 1] + b[n - 1] });
}
