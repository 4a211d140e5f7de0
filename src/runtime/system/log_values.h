/* log_values.h: what is logged by step. See log_values.c. */
#ifndef MASU_RUNTIME_LOG_VALUES_H
#define MASU_RUNTIME_LOG_VALUES_H

typedef struct tl_runtime tl_runtime;

/* Closes the file, if there is one. */
void tl__values_end(tl_runtime *rt);

#endif
