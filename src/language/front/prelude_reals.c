/* prelude_reals.c: rarer functions of f32 and f64, and functions by the names that older programs use.
 *
 * They are computed in f64, near 0 by the ratio that keeps the digits (Kahan): with u = exp(x), exp(x) - 1 is
 * (u - 1) x / ln u; with u = 1 + x, ln(1 + x) is x ln u / (u - 1).
 */
#include "language/front/prelude.h"

#define TEXT(...) #__VA_ARGS__ "\n"

/* clang-format off */
#define REAL(T) TEXT(                                                                                  \
impl T {                                                                                               \
    fn exp_m1(self) -> T {                                                                             \
        let x = self as f64;                                                                           \
        let u = x.exp();                                                                               \
        if u == 1.0f64 { return self }                                                                 \
        if u - 1.0f64 == -1.0f64 || u == f64::infinity() { return (u - 1.0f64) as T }                  \
        ((u - 1.0f64) * x / u.ln()) as T                                                               \
    }                                                                                                  \
    fn ln_1p(self) -> T {                                                                              \
        let x = self as f64;                                                                           \
        let u = 1.0f64 + x;                                                                            \
        if u == 1.0f64 { return self }                                                                 \
        if u == f64::infinity() { return self }                                                        \
        (u.ln() * x / (u - 1.0f64)) as T                                                               \
    }                                                                                                  \
    fn asinh(self) -> T {                                                                              \
        let x = (self as f64).abs();                                                                   \
        let y = (x + x * x / (1.0f64 + (x * x + 1.0f64).sqrt())).ln_1p();                              \
        (y as T).copysign(self)                                                                        \
    }                                                                                                  \
    fn acosh(self) -> T { let x = self as f64; (x + (x * x - 1.0f64).sqrt()).ln() as T }               \
    fn atanh(self) -> T { let x = self as f64; (0.5f64 * (2.0f64 * x / (1.0f64 - x)).ln_1p()) as T }   \
    fn cbrt(self) -> T {                                                                               \
        let x = (self as f64).abs();                                                                   \
        if x == 0.0f64 || x == f64::infinity() || x != x { return self }                               \
        let y = x.powf(1.0f64 / 3.0f64);                                                               \
        ((y - (y * y * y - x) / (3.0f64 * y * y)) as T).copysign(self)                                 \
    }                                                                                                  \
    fn is_sign_negative(self) -> bool { self < 0.0 || (self == 0.0 && 1.0 / self < 0.0) }              \
    fn is_inf(self) -> bool { self.is_infinite() }                                                     \
    fn is_sign_positive(self) -> bool { !self.is_sign_negative() }                                     \
    fn copysign(self, sign: T) -> T {                                                                  \
        if self.is_sign_negative() == sign.is_sign_negative() { self } else { -self } }                \
    fn rem_euclid(self, by: T) -> T { let r = self % by; if r < 0.0 { r + by.abs() } else { r } }      \
    fn div_euclid(self, by: T) -> T {                                                                  \
        let q = (self / by).trunc();                                                                   \
        if self % by < 0.0 { if by > 0.0 { q - 1.0 } else { q + 1.0 } } else { q } }                   \
})

const char prelude_reals_text[] = REAL(f32) REAL(f64);

/* What tensors have, of one number. */
#define ACTIVATIONS(T) TEXT(                                                                           \
impl T {                                                                                               \
    fn silu(self) -> T { self * self.sigmoid() }                                                       \
    fn gelu(self) -> T { let x: Tensor<T, 1> = [self]; x.gelu()[0] }                                   \
    fn softplus(self) -> T { if self > 20.0 { self } else { (1.0f64 + (self as f64).exp()).ln() as T } } \
    fn leaky_relu(self, slope: T) -> T { if self > 0.0 { self } else { self * slope } }                \
    fn elu(self) -> T { if self > 0.0 { self } else { self.exp() - 1.0 } }                             \
    fn sign(self) -> T { if self > 0.0 { 1.0 } else { if self < 0.0 { -1.0 } else { 0.0 } } }          \
    fn square(self) -> T { self * self }                                                               \
})

const char prelude_activations_text[] = ACTIVATIONS(f32) ACTIVATIONS(f64);

const char prelude_older_text[] = TEXT(
impl Tensor {
    fn __adam_mean(self, g: Tensor, beta: f32) -> Tensor { self * beta + g * (1.0 - beta) }
    fn __adam_step(self, m: Tensor, v: Tensor, step: i64, lr: f32, beta1: f32, beta2: f32, eps: f32, decay: f32) -> Tensor {
        let mean = m * (1.0 / (1.0 - beta1.powi(step)));
        let spread = (v * (1.0 / (1.0 - beta2.powi(step)))).sqrt();
        (self - self * (lr * decay) - mean / (spread + eps) * lr).detach(true)
    }
}
impl String {
    fn print(self) { println(self); }
    fn display(self) { print(self); }
}
enum Device { Auto, Cpu, Metal, Cuda }
fn set_device(device: Device) { }
fn read_line(prompt: String) -> String { print(prompt); __read_line() }
fn tl_system_time() -> f32 { System::time() as f32 }
fn tl_system_sleep(seconds: f32) { System::sleep(seconds); }
fn tl_get_memory_mb() -> i64 { System::memory_mb() as i64 }
fn tl_get_memory_bytes() -> i64 { System::memory_bytes() as i64 }
fn tl_get_pool_count() -> i64 { System::pool_count() as i64 }
fn tl_get_refcount_count() -> i64 { System::refcount_count() as i64 }
fn tl_get_scope_depth() -> i64 { System::scope_depth() as i64 }
);
/* clang-format on */

const size_t prelude_reals_length = sizeof prelude_reals_text - 1,
             prelude_activations_length = sizeof prelude_activations_text - 1,
             prelude_older_length = sizeof prelude_older_text - 1;
