/* embed.c: fits a curve of the program embed.tl to points, and asks it for two of them: sh examples/embed.sh */
#include <math.h>
#include <stdio.h>

#include "embed.h"

enum { POINTS = 9 };

int main(void) {
    float x[POINTS], y[POINTS], near[2] = {1, 2}, found[2], missing = 0;
    int64_t all[] = {POINTS, 1}, two[] = {2, 1};
    embed *instance = NULL;
    embed_Curve *curve = NULL;
    for (int i = 0; i < POINTS; i++) {
        x[i] = (float)(i - 4);
        y[i] = sinf(x[i]);
    }
    masu_tensor xs = masu_tensor_of(MASU_F32, x, 2, all), ys = masu_tensor_of(MASU_F32, y, 2, all);
    masu_tensor asked = masu_tensor_of(MASU_F32, near, 2, two), answer = masu_tensor_of(MASU_F32, found, 2, two);

    masu_status status = embed_create(NULL, &instance);
    if (status == MASU_OK)
        status = embed_Curve_new(instance, 8, &curve);
    if (status == MASU_OK)
        status = embed_Curve_fit(instance, curve, &xs, &ys, 400, &missing);
    if (status == MASU_OK)
        status = embed_Curve_at(instance, curve, &asked, &answer);
    if (status != MASU_OK)
        fprintf(stderr, "%s\n", embed_error(instance));
    else
        printf("fitted: %s\nsin 1 is about %.1f, sin 2 is about %.1f\n", missing < 0.001f ? "yes" : "no", found[0],
               found[1]);

    /* What does not fit is a status and a text, and the curve is what it was. */
    if (embed_Curve_fit(instance, curve, &xs, &asked, 1, &missing) == MASU_ERR_SHAPE_MISMATCH)
        printf("%s\n", embed_error(instance));
    embed_Curve_drop(curve);
    embed_destroy(instance);
    return status != MASU_OK;
}
