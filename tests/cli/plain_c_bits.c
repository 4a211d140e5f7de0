/* plain_c_bits.c: the functions of plain_c.tl as plain C, their results as text from which each bit can be told. It
 * runs on the host and on processors of other kinds: nothing here may depend on sizes of types, the order of bytes or
 * the C library but for what is written between the two. What <math.h> decides is the line that begins with "libm". */
#include "net.h"
#include <stdio.h>

static unsigned long state = 7;
static float next(void) {
    state = (state * 1664525u + 1013904223u) & 0xffffffffu;
    return (float)(state >> 8) / 8388608.0f - 1.0f;
}
static const float *fill(float *x, int n) {
    for (int i = 0; i < n; i++)
        x[i] = next() * 2;
    return x;
}
static void reals(const char *name, const float *x, int n) {
    printf("%s", name);
    for (int i = 0; i < n; i++)
        printf(" %.9g", (double)x[i]);
    printf("\n");
}
static void decimal(int64_t x) { /* not every C library prints so many bits */
    char text[24], *at = text + sizeof text - 1;
    uint64_t left = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    *at = '\0';
    do
        *--at = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    printf(" %s%s", x < 0 ? "-" : "", at);
}
static void whole(const char *name, const int64_t *x, int n) {
    printf("%s", name);
    for (int i = 0; i < n; i++)
        decimal(x[i]);
    printf("\n");
}

static _Alignas(8) unsigned char arena[NET_ARENA_BYTES + 8];
static net context = {.arena = arena, .arena_bytes = NET_ARENA_BYTES};
static void fine(const char *name, net_status status) {
    if (status != NET_OK)
        printf("%s: %d %s %d:%d\n", name, (int)status, context.message, (int)context.line, (int)context.column);
}
#define FINE(call) fine(#call, call)

static void network(void) {
    float w1[48], b1[8], w2[40], b2[5], x[24], y[20], add[5];
    double scale;
    net_Mlp m = {.w1 = w1, .b1 = b1, .w2 = w2, .b2 = b2};
    net_const_f32 in = net_Mlp_forward_x(fill(x, 24)), nudge = net_Mlp_nudge_x(fill(add, 5));
    net_f32 out = net_Mlp_forward_out(y);
    FINE(net_Mlp_new(&context, 6, 8, 5, &m));
    FINE(net_Mlp_nudge(&context, &m, &nudge, 0.3, &scale));
    printf("scale %.17g %.17g\n", scale, m.scale);
    FINE(net_Mlp_forward(&context, &m, &in, &out));
    reals("mlp", y, 20);
}

static void images(void) {
    static float x[384], w[135], b[5], y[320];
    net_const_f32 nx = net_conv_x(fill(x, 384)), nw = net_conv_w(fill(w, 108)), nb = net_conv_b(fill(b, 4));
    net_f32 ny = net_conv_out(y);
    FINE(net_conv(&context, &nx, &nw, &nb, &ny));
    reals("conv", y, 32);
    nx = net_steps_x(fill(x, 294)), nw = net_steps_w(fill(w, 135)), nb = net_steps_b(fill(b, 5)), ny = net_steps_out(y);
    FINE(net_steps(&context, &nx, &nw, &nb, &ny));
    reals("steps", y, 320);
}

static void products(void) {
    static float a[630], b[1890], y0[294], y1[4050], x[80], q[64], k[64], v[64];
    net_const_f32 na = net_turned_a(fill(a, 630)), nb = net_turned_b(fill(b, 1890));
    net_f32 n0 = net_turned_out0(y0), n1 = net_turned_out1(y1), ny = net_attend_out(y0);
    FINE(net_turned(&context, &na, &nb, &n0, &n1));
    reals("turned", y0, 294);
    reals("squares", y1, 4050);
    net_const_f32 nx = net_attend_x(fill(x, 80)), nq = net_attend_wq(fill(q, 64)), nk = net_attend_wk(fill(k, 64)),
                  nv = net_attend_wv(fill(v, 64));
    FINE(net_attend(&context, &nx, &nq, &nk, &nv, &ny));
    reals("attend", y0, 80);
    net_const_f32 nh = net_recur_h(fill(x, 12)), ne = net_recur_w(fill(q, 16));
    ny = net_recur_out(y0);
    FINE(net_recur(&context, &nh, &ne, 8, &ny));
    reals("recur", y0, 12);
}

static void elements(void) {
    float x[222], y[37], s[6];
    double mean;
    int64_t most[6];
    net_const_f32 nx = net_elements_x(fill(x, 35)), ny = net_elements_y(fill(y, 5));
    net_f32 out = net_elements_out(x);
    FINE(net_elements(&context, &nx, &ny, &out));
    reals("libm", x, 35);
    nx = net_sums_x(fill(x, 222));
    net_f32 n0 = net_sums_out0(s), n1 = net_sums_out1(y);
    net_i64 n3 = net_sums_out3(most);
    FINE(net_sums(&context, &nx, &n0, &n1, &mean, &n3));
    reals("sums", s, 6);
    reals("means", y, 37);
    whole("most", most, 6);
    printf("mean %.17g\n", mean);
    nx = net_blur_x(fill(x, 42));
    out = net_blur_out(x + 42);
    FINE(net_blur(&context, &nx, 0.3, &out));
    reals("blur", x + 42, 30);
    float e[25], v[5];
    int64_t rounds;
    for (int i = 0; i < 25; i++)
        e[i] = i % 6 == 0 ? 2 : 0.1f * (float)(i % 3);
    net_const_f32 ne = net_power_a(e);
    net_f32 nv = net_power_out0(v);
    FINE(net_power(&context, &ne, 1e-4, &nv, &rounds));
    reals("power", v, 5);
    whole("rounds", &rounds, 1);
}

static void integers(void) {
    int64_t x[9] = {5, -7, 3, 100, -100, 0, 9, INT64_MAX, INT64_MIN}, d[9] = {2, 3, -5, 7, -7, 1, 4, -1, -1}, y[10];
    int64_t rows[2] = {3, 0};
    float f[12], parts[27];
    net_const_i64 nx = net_counts_x(x), nd = net_counts_d(d), ni = net_parts_i(rows);
    net_i64 ny = net_counts_out(y), nf = net_fibs_out(y);
    FINE(net_counts(&context, &nx, &nd, &ny));
    whole("counts", y, 9);
    FINE(net_fibs(&context, INT64_C(1) << 40, &nf));
    whole("fibs", y, 10);
    for (int64_t n = 1; n < 60; n++) {
        int64_t steps;
        FINE(net_collatz(&context, n * INT64_C(1000000007), &steps));
        whole("collatz", &steps, 1);
    }
    for (int k = 0; k < 60; k++) {
        int64_t a;
        FINE(net_mixed(&context, (int64_t)k * 69234567 - 2000000000, k, next() * 1e10f, &a));
        whole("mixed", &a, 1);
    }
    net_i64 nl = net_latest_out0(y);
    FINE(net_latest(&context, 7, &nl, y + 3));
    whole("latest", y, 4);
    net_const_f32 ng = net_grid_x(fill(f, 6)), nt = net_either_x(f);
    net_f32 three = net_grid_out(parts), four = net_either_out(parts + 12);
    FINE(net_grid(&context, &ng, &three));
    FINE(net_either(&context, 3, &nt, &four));
    reals("grid", parts, 16);
    net_const_f32 np = net_parts_x(fill(f, 12));
    net_f32 out = net_parts_out(parts);
    FINE(net_parts(&context, &np, &ni, 2, &out));
    reals("parts", parts, 27);
    rows[0] = -1;
    printf("row -1: %d", (int)net_parts(&context, &np, &ni, 2, &out));
    printf(" at %d:%d, %s\n", (int)context.line, (int)context.column, context.message);
}

int main(void) {
    for (int i = 0; i < 8; i++)
        arena[NET_ARENA_BYTES + i] = 0x5a;
    network();
    images();
    products();
    elements();
    integers();
    context.arena_bytes = NET_FIBS_ARENA_BYTES - 1;
    int64_t y[10];
    net_i64 ny = net_fibs_out(y);
    printf("one byte less: %d\n", (int)net_fibs(&context, 1, &ny));
    for (int i = 0; i < 8; i++)
        if (arena[NET_ARENA_BYTES + i] != 0x5a)
            printf("behind the arena\n");
    return 0;
}
