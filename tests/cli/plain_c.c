/* plain_c.c: the functions of plain_c.tl twice: as plain C and from the shared library, which is the measure. Where
 * sums go in the same order they are the same bits; products of matrices are BLAS's there, so a few units of the last
 * place are theirs. Says what is wrong. */
#include "net.h"
#include "ref.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned state = 7;
static float next(void) {
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / 8388608.0f - 1.0f;
}
static void fill(float *x, int n) {
    for (int i = 0; i < n; i++)
        x[i] = next() * 2;
}
static int wrong;
static long ulps(float a, float b) {
    int x, y;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    if (a == b)
        return 0;
    if ((x < 0) != (y < 0))
        return 1l << 40;
    long d = (long)x - y;
    return d < 0 ? -d : d;
}
static void near(const char *what, const float *a, const float *b, int n, long most) {
    long worst = 0;
    for (int i = 0; i < n; i++) {
        long u = ulps(a[i], b[i]);
        if (fabsf(a[i] - b[i]) < 1e-6f * most)
            u = u > most ? most : u;
        worst = u > worst ? u : worst;
    }
    if (worst > most) {
        wrong++;
        printf("%s: %ld ulp\n", what, worst);
        for (int i = 0; i < n && i < 12; i++)
            printf("   %.9g %.9g\n", a[i], b[i]);
    }
}
#define OK(call)                                                                                     \
    do {                                                                                             \
        int s_ = (int)(call);                                                                        \
        if (s_) {                                                                                    \
            printf("%s: %d %s %d:%d %s\n", #call, s_, context.message, context.line, context.column, \
                   ref_error(instance));                                                             \
            wrong++;                                                                                 \
        }                                                                                            \
    } while (0)
static masu_tensor t(float *x, int rank, int a, int b, int c, int d) {
    int64_t s[] = {a, b, c, d};
    return masu_tensor_of(MASU_F32, x, rank, s);
}
static _Alignas(8) unsigned char arena[NET_ARENA_BYTES + 64];

/* The same call over and over, in a thread with a context and an arena of its own. */
static void *work(void *unused) {
    static const float three[4] = {1, -1, 2, 0.5f};
    _Alignas(8) unsigned char own[NET_RECUR_ARENA_BYTES];
    net context = {.arena = own, .arena_bytes = sizeof own};
    float h[12], w[16], first[12], y[12];
    (void)unused;
    for (int i = 0; i < 16; i++)
        w[i] = h[i % 12] = three[i % 4] / (float)(1 + i);
    net_const_f32 nh = net_recur_h(h), nw = net_recur_w(w);
    net_f32 n0 = net_recur_out(first), ny = net_recur_out(y);
    if (net_recur(&context, &nh, &nw, 50, &n0) != NET_OK)
        return own;
    for (int k = 0; k < 2000; k++)
        if (net_recur(&context, &nh, &nw, 50, &ny) != NET_OK || memcmp(first, y, sizeof y) != 0)
            return own;
    return NULL;
}
int main(void) {
    net context = {.arena = arena, .arena_bytes = NET_ARENA_BYTES};
    ref *instance;
    ref_create(NULL, &instance);
    memset(arena, 0x5a, sizeof arena);
    { /* mlp */
        float w1[48], b1[8], w2[40], b2[5], x[24], y[20], z[20], add[5];
        double scale;
        net_Mlp m = {.w1 = w1, .b1 = b1, .w2 = w2, .b2 = b2};
        ref_Mlp *r;
        fill(x, 24);
        fill(add, 5);
        OK(net_Mlp_new(&context, 6, 8, 5, &m));
        OK(ref_Mlp_new(instance, 6, 8, 5, &r));
        double s2;
        net_const_f32 n = net_Mlp_nudge_x(add);
        masu_tensor mn = t(add, 1, 5, 0, 0, 0);
        OK(net_Mlp_nudge(&context, &m, &n, 0.3, &scale));
        OK(ref_Mlp_nudge(instance, r, &mn, 0.3, &s2));
        if (scale != s2 || m.scale != 1.0)
            wrong++, printf("scale\n");
        net_const_f32 in = net_Mlp_forward_x(x);
        net_f32 out = net_Mlp_forward_out(y);
        masu_tensor mi = t(x, 2, 4, 6, 0, 0), mo = t(z, 2, 4, 5, 0, 0);
        OK(net_Mlp_forward(&context, &m, &in, &out));
        OK(ref_Mlp_forward(instance, r, &mi, &mo));
        near("mlp", y, z, 20, 8);
        ref_Mlp_drop(r);
        if (net_Mlp_new(&context, 6, 9, 5, &m) != NET_ERR_INVALID_ARGUMENT)
            wrong++, printf("other number\n");
    }
    { /* conv */
        float x[384], w[108], b[4], y[32], z[32];
        fill(x, 384);
        fill(w, 108);
        fill(b, 4);
        net_const_f32 nx = net_conv_x(x), nw = net_conv_w(w), nb = net_conv_b(b);
        net_f32 ny = net_conv_out(y);
        masu_tensor mx = t(x, 4, 2, 3, 8, 8), mw = t(w, 4, 4, 3, 3, 3), mb = t(b, 1, 4, 0, 0, 0),
                    mz = t(z, 2, 2, 16, 0, 0);
        OK(net_conv(&context, &nx, &nw, &nb, &ny));
        OK(ref_conv(instance, &mx, &mw, &mb, &mz));
        near("conv", y, z, 32, 16);
    }
    { /* steps */
        float x[294], w[135], b[5], y[5 * 4 * 16], z[5 * 4 * 16];
        fill(x, 294);
        fill(w, 135);
        fill(b, 5);
        net_const_f32 nx = net_steps_x(x), nw = net_steps_w(w), nb = net_steps_b(b);
        net_f32 ny = net_steps_out(y);
        masu_tensor mx = t(x, 4, 1, 3, 7, 14), mw = t(w, 4, 5, 3, 3, 3), mb = t(b, 1, 5, 0, 0, 0),
                    mz = t(z, 4, 1, 5, 4, 16);
        OK(net_steps(&context, &nx, &nw, &nb, &ny));
        OK(ref_steps(instance, &mx, &mw, &mb, &mz));
        near("steps", y, z, 320, 16);
    }
    { /* turned */
        static float a[630], b[1890], y0[294], z0[294], y1[4050], z1[4050];
        fill(a, 630);
        fill(b, 1890);
        net_const_f32 na = net_turned_a(a), nb = net_turned_b(b);
        net_f32 n0 = net_turned_out0(y0), n1 = net_turned_out1(y1);
        masu_tensor ma = t(a, 3, 2, 7, 45, 0), mb = t(b, 3, 2, 21, 45, 0), m0 = t(z0, 3, 2, 7, 21, 0),
                    m1 = t(z1, 3, 2, 45, 45, 0);
        OK(net_turned(&context, &na, &nb, &n0, &n1));
        OK(ref_turned(instance, &ma, &mb, &m0, &m1));
        near("turned", y0, z0, 294, 64);
        near("turned", y1, z1, 4050, 64);
    }
    { /* attend */
        float x[80], q[64], k[64], v[64], y[80], z[80];
        fill(x, 80);
        fill(q, 64);
        fill(k, 64);
        fill(v, 64);
        net_const_f32 nx = net_attend_x(x), nq = net_attend_wq(q), nk = net_attend_wk(k), nv = net_attend_wv(v);
        net_f32 ny = net_attend_out(y);
        masu_tensor mx = t(x, 3, 2, 5, 8, 0), mq = t(q, 2, 8, 8, 0, 0), mk = t(k, 2, 8, 8, 0, 0),
                    mv = t(v, 2, 8, 8, 0, 0), mz = t(z, 3, 2, 5, 8, 0);
        OK(net_attend(&context, &nx, &nq, &nk, &nv, &ny));
        OK(ref_attend(instance, &mx, &mq, &mk, &mv, &mz));
        near("attend", y, z, 80, 64);
    }
    { /* elements */
        float x[35], y[5], a[35], b[35];
        fill(x, 35);
        fill(y, 5);
        net_const_f32 nx = net_elements_x(x), ny = net_elements_y(y);
        net_f32 na = net_elements_out(a);
        masu_tensor mx = t(x, 2, 7, 5, 0, 0), my = t(y, 1, 5, 0, 0, 0), mb = t(b, 2, 7, 5, 0, 0);
        OK(net_elements(&context, &nx, &ny, &na));
        OK(ref_elements(instance, &mx, &my, &mb));
        near("elements", a, b, 35, 0);
    }
    { /* sums */
        float x[222], a[6], b[6], c[37], d[37];
        double e, f;
        int64_t g[6], h[6];
        fill(x, 222);
        int64_t six = 6;
        net_const_f32 nx = net_sums_x(x);
        net_f32 n0 = net_sums_out0(a), n1 = net_sums_out1(c);
        net_i64 n3 = net_sums_out3(g);
        masu_tensor mx = t(x, 2, 6, 37, 0, 0), m0 = t(b, 1, 6, 0, 0, 0), m1 = t(d, 1, 37, 0, 0, 0),
                    m3 = masu_tensor_of(MASU_I64, h, 1, &six);
        OK(net_sums(&context, &nx, &n0, &n1, &e, &n3));
        OK(ref_sums(instance, &mx, &m0, &m1, &f, &m3));
        near("sums", a, b, 6, 0);
        near("means", c, d, 37, 0);
        if (e != f || memcmp(g, h, sizeof g))
            wrong++, printf("sums: %.17g %.17g\n", e, f);
    }
    { /* parts */
        float x[12], y[27], z[27];
        int64_t i[2] = {3, 0}, two = 2;
        fill(x, 12);
        net_const_f32 nx = net_parts_x(x);
        net_const_i64 ni = net_parts_i(i);
        net_f32 ny = net_parts_out(y);
        masu_tensor mx = t(x, 2, 4, 3, 0, 0), mi = masu_tensor_of(MASU_I64, i, 1, &two), mz = t(z, 2, 9, 3, 0, 0);
        OK(net_parts(&context, &nx, &ni, 2, &ny));
        OK(ref_parts(instance, &mx, &mi, 2, &mz));
        near("parts", y, z, 27, 0);
        if (net_parts(&context, &nx, &ni, 4, &ny) != NET_ERR_INDEX_OUT_OF_RANGE)
            wrong++, printf("row 4\n");
        i[0] = -1;
        if (net_parts(&context, &nx, &ni, 2, &ny) != NET_ERR_INDEX_OUT_OF_RANGE)
            wrong++, printf("row -1\n");
        if (context.line != 47 || context.column != 35 || strcmp(context.function, "parts") ||
            strcmp(context.message, "index out of range"))
            wrong++, printf("place\n");
    }
    for (int n = 0; n < 9; n++) { /* recur */
        float h[12], w[16], y[12], z[12];
        fill(h, 12);
        fill(w, 16);
        net_const_f32 nh = net_recur_h(h), nw = net_recur_w(w);
        net_f32 ny = net_recur_out(y);
        masu_tensor mh = t(h, 2, 3, 4, 0, 0), mw = t(w, 2, 4, 4, 0, 0), mz = t(z, 2, 3, 4, 0, 0);
        OK(net_recur(&context, &nh, &nw, n, &ny));
        OK(ref_recur(instance, &mh, &mw, n, &mz));
        near("recur", y, z, 12, 16);
        ny.data = h;
        OK(net_recur(&context, &nh, &nw, n, &ny));
        near("recur in place", h, y, 12, 0);
    }
    { /* blur */
        float x[42], y[30], z[30];
        fill(x, 42);
        net_const_f32 nx = net_blur_x(x);
        net_f32 ny = net_blur_out(y);
        masu_tensor mx = t(x, 2, 6, 7, 0, 0), mz = t(z, 2, 5, 6, 0, 0);
        OK(net_blur(&context, &nx, 0.3, &ny));
        OK(ref_blur(instance, &mx, 0.3, &mz));
        near("blur", y, z, 30, 0);
    }
    { /* counts */
        int64_t x[9] = {5, -7, 3, 100, -100, 0, 9, INT64_MAX, INT64_MIN}, d[9] = {2, 3, -5, 7, -7, 1, 4, -1, -1}, y[9],
                z[9], nine = 9;
        net_const_i64 nx = net_counts_x(x), nd = net_counts_d(d);
        net_i64 ny = net_counts_out(y);
        masu_tensor mx = masu_tensor_of(MASU_I64, x, 1, &nine), md = masu_tensor_of(MASU_I64, d, 1, &nine),
                    mz = masu_tensor_of(MASU_I64, z, 1, &nine);
        OK(net_counts(&context, &nx, &nd, &ny));
        OK(ref_counts(instance, &mx, &md, &mz));
        if (memcmp(y, z, sizeof y))
            wrong++, printf("counts\n");
        d[3] = 0;
        if (net_counts(&context, &nx, &nd, &ny) != NET_ERR_INVALID_ARGUMENT)
            wrong++, printf("counts by 0\n");
        if (context.line != 72 || context.column != 73 || strcmp(context.message, "division by zero"))
            wrong++, printf("place of 0\n");
    }
    for (int64_t n = 1; n < 60; n++) {
        int64_t a, b;
        OK(net_collatz(&context, n, &a));
        OK(ref_collatz(instance, n, &b));
        if (a != b)
            wrong++, printf("collatz\n");
    }
    for (int k = 0; k < 60; k++) {
        int64_t a, b, x = (int64_t)k * 69234567 - 2000000000;
        float c = next() * 1e10f;
        OK(net_mixed(&context, x, k, c, &a));
        OK(ref_mixed(instance, x, k, c, &b));
        if (a != b)
            wrong++, printf("mixed %d %lld %lld\n", k, (long long)a, (long long)b);
    }
    {
        int64_t a;
        if (net_mixed(&context, 77, 1, 1, &a) != NET_ERR_PANIC || strcmp(context.message, "seventy-seven"))
            wrong++, printf("panic\n");
        if (net_mixed(&context, 1, 256, 1, &a) != NET_ERR_INVALID_ARGUMENT)
            wrong++, printf("u8\n");
    }
    {
        float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
        net_f32 na = net_swap_a(a), nb = net_swap_b(b);
        OK(net_swap(&context, &na, &nb));
        if (a[3] != 8 || b[0] != 1)
            wrong++, printf("swap\n");
    }
    {
        float x[3] = {1, 2, 3};
        net_const_f32 nx = net_literal_x(x);
        net_f32 ny = net_literal_out(x);
        OK(net_literal(&context, &nx, &ny));
        if (x[1] != 0.75f)
            wrong++, printf("literal\n");
        ny.shape[0] = 4;
        if (net_literal(&context, &nx, &ny) != NET_ERR_SHAPE_MISMATCH)
            wrong++, printf("shape\n");
    }
    { /* a comprehension with a loop, a loop that ends when it is near, elements one by one */
        float a[12], b[8], y[6], z[6], e[25], v[5], u[5];
        int64_t n, m, f[10];
        fill(a, 12);
        fill(b, 8);
        for (int i = 0; i < 25; i++)
            e[i] = i % 6 == 0 ? 2 : 0.1f * (float)(i % 3);
        net_const_f32 na = net_dots_a(a), nb = net_dots_b(b), ne = net_power_a(e);
        net_f32 ny = net_dots_out(y), nv = net_power_out0(v);
        net_i64 nf = net_fibs_out(f);
        masu_tensor ma = t(a, 2, 3, 4, 0, 0), mb = t(b, 2, 2, 4, 0, 0), mz = t(z, 2, 3, 2, 0, 0),
                    me = t(e, 2, 5, 5, 0, 0), mu = t(u, 1, 5, 0, 0, 0);
        OK(net_dots(&context, &na, &nb, &ny));
        OK(ref_dots(instance, &ma, &mb, &mz));
        near("dots", y, z, 6, 0);
        OK(net_power(&context, &ne, 1e-4, &nv, &n));
        OK(ref_power(instance, &me, 1e-4, &mu, &m));
        near("power", v, u, 5, 4);
        if (n != m)
            wrong++, printf("power: %d %d\n", (int)n, (int)m);
        OK(net_fibs(&context, 0, &nf));
        if (f[9] != 34 || f[2] != 1)
            wrong++, printf("fibs\n");
    }
    { /* a shape in a list; numbers that could be one */
        float x[6], y[12], z[12];
        int64_t a[3], b[3], n, m, three = 3;
        fill(x, 6);
        net_const_f32 nx = net_grid_x(x), nv = net_either_x(x);
        net_f32 ny = net_grid_out(y), nw = net_either_out(y);
        net_i64 na = net_latest_out0(a);
        masu_tensor mx = t(x, 2, 3, 2, 0, 0), mz = t(z, 3, 2, 3, 2, 0), mv = t(x, 1, 4, 0, 0, 0),
                    mw = t(z, 1, 4, 0, 0, 0), mb = masu_tensor_of(MASU_I64, b, 1, &three);
        OK(net_grid(&context, &nx, &ny));
        OK(ref_grid(instance, &mx, &mz));
        near("grid", y, z, 12, 0);
        for (int k = 0; k < 6; k++) {
            OK(net_latest(&context, k, &na, &n));
            OK(ref_latest(instance, k, &mb, &m));
            OK(net_either(&context, k, &nv, &nw));
            OK(ref_either(instance, k, &mv, &mw));
            near("either", y, z, 4, 0);
            if (memcmp(a, b, sizeof a) || n != m)
                wrong++, printf("latest %d: %d %d\n", k, (int)n, (int)m);
        }
    }
    context.arena_bytes = NET_CONV_ARENA_BYTES - 1;
    {
        float x[384], w[108], b[4], y[32];
        net_const_f32 nx = net_conv_x(x), nw = net_conv_w(w), nb = net_conv_b(b);
        net_f32 ny = net_conv_out(y);
        if (net_conv(&context, &nx, &nw, &nb, &ny) != NET_ERR_OUT_OF_MEMORY)
            wrong++, printf("arena\n");
    }
    for (int i = 0; i < 64; i++)
        if (arena[NET_ARENA_BYTES + i] != 0x5a) {
            wrong++;
            printf("behind the arena\n");
            break;
        }
    ref_destroy(instance);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        if (bad)
            wrong++, printf("threads\n");
    }
    return wrong != 0;
}
