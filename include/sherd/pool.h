/* sherd/pool.h - threads that the caller lends to the library.
 *
 * Without a pool every call works on the caller's thread alone. Results and
 * output bytes never depend on the number of workers. */
#ifndef SHERD_POOL_H
#define SHERD_POOL_H

#include <sherd/error.h>

SHERD_BEGIN_DECLS

typedef struct sherd_pool sherd_pool;

/* Starts workers threads; 0 means one for each processor this process may use.
 * A pool may serve any number of calls from any number of threads at once. */
SHERD_API int sherd_pool_open(sherd_pool **out, unsigned workers, sherd_error *err);
SHERD_API unsigned sherd_pool_workers(const sherd_pool *pool); /* 1 for NULL */
/* No call may be using the pool any more. NULL is fine. */
SHERD_API void sherd_pool_close(sherd_pool *pool);

SHERD_END_DECLS

#endif
