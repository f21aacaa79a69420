/* sherd/s3.h - stores of s3://bucket/prefix/key: object storage that speaks the protocol of S3. */
#ifndef SHERD_S3_H
#define SHERD_S3_H

#include <sherd/sys/component.h>

SHERD_BEGIN_DECLS

/* Its scheme, for sherd_store_options. What stands behind the bucket is taken as it is, without percent decoding; a
 * name that ends with '/', or below which objects lie, is a folder.
 *
 * Settings (`own`), each before the variables of the environment and the profile that mean the same:
 * "endpoint" http(s)://host[:port], "region", "profile", "path-style" ("true": the bucket stands in the path),
 * "ca-bundle" a file, "unsigned" ("true": ask without credentials), "alone" ("true": nobody else writes, so that a
 * server that ignores conditions may be written to), "timeout" and "request-timeout" seconds that a call and each of
 * its requests may take, "retries" how often a request is made again, "retry-delay" seconds before the first time,
 * "part-size" bytes of the parts of a large object, of which up to four are in memory. */
SHERD_API const sherd_component *sherd_s3_component(void);

SHERD_END_DECLS

#endif
