/* special.h: functions that the C library does not bring, or not for several threads; in f64, for both types of
 * tensors.
 *
 *     erfinv     Newton's steps on erf from Winitzki's first guess; ±1 yields ±infinity
 *     lgamma     ln |Γ(x)|
 *     digamma    its derivative: raised to x >= 6 by ψ(x) = ψ(x + 1) - 1/x, then the asymptotic series;
 *                below 0 mirrored: ψ(x) = ψ(1 - x) - π / tan(π x)
 *     trigamma   the next derivative, in the same two steps: ψ'(x) + ψ'(1 - x) = (π / sin(π x))²
 */
#ifndef MASU_RUNTIME_OPS_SPECIAL_H
#define MASU_RUNTIME_OPS_SPECIAL_H

double tl__erfinv(double x);
double tl__lgamma(double x);
double tl__digamma(double x);
double tl__trigamma(double x);

#endif
