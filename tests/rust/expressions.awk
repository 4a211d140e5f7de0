# Writes the expressions that are compared with rustc, one a line: those of every number type, then the others of
# expressions.txt. Reads expressions.txt.
BEGIN {
    split("i8 i16 i32 i64 u8 u16 u32 u64 usize", integers, " ")
    split("f32 f64", reals, " ")
    for (i = 1; i <= 9; i++) integer(integers[i], integers[i] ~ /^i/)
    for (i = 1; i <= 2; i++) real(reals[i])
}
/^(#|$)/ { next }
{ print }

function each(t, text) { gsub(/@/, t, text); print text }
function integer(t, is_signed) {
    each(t, "@::MAX")
    each(t, "@::MIN")
    each(t, "(@::MAX.checked_add(1), @::MAX.checked_sub(1), @::MIN.checked_sub(1), (3 as @).checked_mul(5))")
    each(t, "(@::MAX.wrapping_add(2), @::MIN.wrapping_sub(2), @::MAX.wrapping_mul(3))")
    each(t, "(@::MAX.saturating_add(2), @::MIN.saturating_sub(2), @::MAX.saturating_mul(2))")
    each(t, "(@::MAX.overflowing_add(1), (1 as @).overflowing_sub(1))")
    each(t, "(3 as @).pow(4)")
    each(t, "((2 as @).checked_pow(6), (2 as @).checked_pow(70), (7 as @).checked_div(0), (7 as @).checked_rem(2))")
    each(t, "(@::MAX / 3, @::MAX % 7, @::MIN / 3)")
    each(t, "((100 as @).rem_euclid(7), (100 as @).div_euclid(7))")
    each(t, "(@::MAX.count_ones(), @::MAX.leading_zeros(), (40 as @).trailing_zeros(), (0 as @).leading_zeros())")
    each(t, "((5 as @).rotate_left(3), (5 as @) << 2, @::MAX >> 3, (6 as @) & 3, (6 as @) | 9, (6 as @) ^ 5, !(6 as @))")
    each(t, "(\"12\".parse::<@>().unwrap(), \"x\".parse::<@>().is_err(), \"\".parse::<@>().is_err(), \"99999999999999999999\".parse::<@>().is_err())")
    each(t, "(@::MAX as i8, @::MAX as u8, @::MAX as i32, @::MAX as u32, @::MAX as i64, @::MAX as u64)")
    each(t, "(@::MIN as i16, @::MIN as u16, @::MIN as u64, @::MIN as f64, @::MAX as f32, @::MAX as f64)")
    each(t, "(1e30 as @, -1e30 as @, 3.99 as @, -3.99 as @, f64::NAN as @)")
    each(t, "(@::try_from(300i64).is_ok(), @::try_from(-1i64).is_ok(), @::try_from(u64::MAX).is_ok(), @::try_from(100u8).is_ok())")
    each(t, "(@::MAX.min(3), @::MIN.max(3), (9 as @).clamp(2, 5), (7 as @).abs_diff(9))")
    each(t, "((3 as @).cmp(&4), (3 as @) == 3, @::MAX > @::MIN, (5 as @).partial_cmp(&2))")
    each(t, "format!(\"{:>6}|{:<6}|{:^6}|{:06}|{:+}|{:x}|{:b}|{:#x}|{:#b}|{:o}\", 42 as @, 42 as @, 42 as @, 42 as @, 42 as @, 42 as @, 42 as @, 42 as @, 42 as @, 42 as @)")
    each(t, "(1..=5 as @).sum::<@>()")
    each(t, "(1..=5 as @).product::<@>()")
    each(t, "(17 as @).to_string() + \"!\"")
    each(t, "((10 as @).isqrt(), (100 as @).ilog2(), (100 as @).ilog10())")
    if (is_signed) {
        each(t, "((-7 as @).rem_euclid(3), (-7 as @).div_euclid(3), (-7 as @).rem_euclid(-3), (-7 as @) / 2, (-7 as @) % 2)")
        each(t, "((-5 as @).abs(), (-5 as @).signum(), (0 as @).signum(), @::MIN.checked_abs(), @::MIN.wrapping_abs(), @::MIN.checked_neg())")
        each(t, "(@::MIN.unsigned_abs(), (-8 as @) >> 1, (-1 as @).count_ones(), (-5 as @).is_negative(), @::MIN.checked_div(-1))")
        each(t, "format!(\"{:x} {:b} {:06} {:+}\", -2 as @, -2 as @, -42 as @, -3 as @)")
        each(t, "(-1 as @) as u8 as char")
    } else {
        each(t, "((0 as @).checked_sub(1), (3 as @).saturating_sub(5), (3 as @).wrapping_sub(5), (3 as @).abs_diff(5))")
        each(t, "((64 as @).is_power_of_two(), (65 as @).is_power_of_two(), (33 as @).next_power_of_two(), (7 as @).div_ceil(2))")
    }
}
function real(t) {
    each(t, "(@::MAX, @::MIN, @::EPSILON, @::INFINITY, @::NEG_INFINITY, @::MIN_POSITIVE)")
    each(t, "(0.1 as @, 1e21 as @, 1e-7 as @, 1.0 as @, 1e15 as @, 1e16 as @, 123456.789 as @)")
    each(t, "format!(\"{:?} {:?} {:?} {:?} {:?}\", 0.1 as @, 1e21 as @, 1e-7 as @, 1.0 as @, -0.0 as @)")
    each(t, "format!(\"{:.2} {:8.3}| {:<8.1}| {:e} {:+} {:08.2}\", 2.345 as @, 2.5 as @, 2.25 as @, 1234.5 as @, 1.5 as @, -1.5 as @)")
    each(t, "((2.5 as @).round(), (-2.5 as @).round(), (0.5 as @).round(), (3.5 as @).round(), (-0.4 as @).round())")
    each(t, "((2.7 as @).floor(), (-2.7 as @).floor(), (2.1 as @).ceil(), (-2.7 as @).ceil(), (2.7 as @).trunc(), (-2.7 as @).trunc())")
    each(t, "((2.75 as @).fract(), (-2.75 as @).fract(), (-2.0 as @).abs(), (-2.0 as @).signum(), (0.0 as @).signum(), (-0.0 as @).signum())")
    each(t, "((4.0 as @).sqrt(), (-1.0 as @).sqrt().is_nan(), (27.0 as @).cbrt(), (2.0 as @).powi(10), (2.0 as @).powi(-2), (2.0 as @).powf(0.5))")
    each(t, "((1.0 as @).exp(), (1.0 as @).ln(), (8.0 as @).log2(), (1000.0 as @).log10(), (8.0 as @).log(2.0), (1e-10 as @).exp_m1(), (1e-10 as @).ln_1p(), (3.0 as @).exp2())")
    each(t, "((1.0 as @).sin(), (1.0 as @).cos(), (1.0 as @).tan(), (0.5 as @).asin(), (0.5 as @).acos(), (1.0 as @).atan(), (1.0 as @).atan2(-1.0))")
    each(t, "((1.0 as @).sinh(), (1.0 as @).cosh(), (1.0 as @).tanh(), (1e-6 as @).sinh(), (1.0 as @).asinh(), (2.0 as @).acosh(), (0.5 as @).atanh())")
    each(t, "(@::INFINITY.atan(), (3.0 as @).hypot(4.0), (7.5 as @) % 2.0, (-7.5 as @) % 2.0, (-7.5 as @).rem_euclid(2.0), (7.5 as @).div_euclid(-2.0))")
    each(t, "(@::NAN.max(1.0), (1.0 as @).min(@::NAN), @::NAN == @::NAN, @::NAN < 1.0, @::NAN.is_nan(), @::NAN.signum().is_nan())")
    each(t, "((1.0 as @) / 0.0, (-1.0 as @) / 0.0, ((0.0 as @) / 0.0).is_nan(), (1.0 as @).is_finite(), @::INFINITY.is_infinite())")
    each(t, "((1.5 as @).clamp(2.0, 3.0), (1.0 as @).copysign(-0.0), (2.0 as @).mul_add(3.0, 4.0), (2.0 as @).recip(), (180.0 as @).to_radians(), (1.0 as @).to_degrees())")
    each(t, "(\"1.5\".parse::<@>().unwrap(), \"1e3\".parse::<@>().unwrap(), \"abc\".parse::<@>().is_err(), \"inf\".parse::<@>().unwrap(), \"-.5\".parse::<@>().unwrap())")
    each(t, "((1.0 as @).to_bits(), (-0.0 as @).is_sign_negative(), (1.0 as @).partial_cmp(&2.0), @::NAN.partial_cmp(&1.0), (1.0 as @).total_cmp(&2.0))")
    each(t, "((300.7 as @) as u8, (-5.5 as @) as u8, (1e10 as @) as i32, @::NAN as i32, (2.9 as @) as i64, (-2.9 as @) as i64)")
    each(t, "(0.1 as @ + 0.2, 0.3 as @ - 0.1, 1.0 as @ / 3.0, 2.0 as @ / 3.0 * 3.0)")
    each(t, "vec![0.5 as @, 1.5, 2.25].iter().sum::<@>()")
    each(t, "vec![0.5 as @, 1.5, 2.25].iter().cloned().fold(@::NEG_INFINITY, @::max)")
    each(t, "(std::f64::consts::PI as @, std::f64::consts::E as @, (0.49999997 as @).round(), (8388609.0 as @).round())")
}
