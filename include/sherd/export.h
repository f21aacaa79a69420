/* sherd/export.h - symbol visibility and C++ linkage. */
#ifndef SHERD_EXPORT_H
#define SHERD_EXPORT_H

#define SHERD_API __attribute__((visibility("default")))

#ifdef __cplusplus
#define SHERD_BEGIN_DECLS extern "C" {
#define SHERD_END_DECLS }
#else
#define SHERD_BEGIN_DECLS
#define SHERD_END_DECLS
#endif

#endif
