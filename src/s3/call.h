/* s3/call.h - one request to the server: signed, made again when that helps, and its refusals in our words. */
#pragma once

#include "s3.h"

enum { SHD_S3_MOST_HEADERS = 8 }; /* besides those that every request has */

/* All zero but what is asked; belongs to one thread at a time. */
typedef struct shd_s3_call {
	const char *method;
	const char *key;   /* without the root; NULL: the bucket */
	shd_s3_text query; /* encoded, in byte order, each name with '=' */
	sherd_pair headers[SHD_S3_MOST_HEADERS];
	size_t count;
	char values[SHD_S3_MOST_HEADERS][SHD_S3_MOST_ETAG + 8];
	char hash[65];         /* of the body; found when it is "" */
	shd_s3_text elsewhere; /* plain: where the server has sent us; "" for where the object was named */
	bool plain;            /* what is asked for is no object of S3 */
	bool went_back;        /* from there, since it is refused there by now */
	int sent_on;           /* how often */
	bool under_way;
	bool once; /* finish does not begin anew */
	bool lost; /* some try got no answer, or a gateway's, but may have reached the server */
	shd_http_request http;
} shd_s3_call;

/* name is in lower case and static. */
__attribute__((format(printf, 3, 4))) void shd_s3_call_header(shd_s3_call *call, const char *name, const char *fmt,
                                                              ...);
/* How a body is vouched for: by its CRC-32, where the server looks at that, and else, or where others could change what
 * is on its way, by its SHA-256 in the signature. Returns the CRC-32. */
uint32_t shd_s3_call_vouch(const shd_s3 *s, shd_s3_call *call, bool crc);
/* The value of x-amz-checksum-crc32. */
#define SHD_S3_CRC_TEXT 9
void shd_s3_crc_text(uint32_t crc, char out[SHD_S3_CRC_TEXT]);
/* Begins; a second time too, for the same request anew. */
int shd_s3_call_start(shd_s3 *s, shd_s3_call *call, sherd_error *err);
/* Waits for an answer, and begins anew as long as that may help. SHERD_OK: there is one, of whatever status. */
int shd_s3_call_finish(shd_s3 *s, shd_s3_call *call, sherd_error *err);
int shd_s3_call_make(shd_s3 *s, shd_s3_call *call, sherd_error *err); /* both */
void shd_s3_call_end(shd_s3 *s, shd_s3_call *call);                   /* what is under way is cancelled */

/* Would the same request have another answer later? */
bool shd_s3_call_may_help(const shd_s3_call *call);
/* When the next try is, or that there is none: false. tries counts from 0. Sleeps. */
bool shd_s3_call_pause(shd_s3 *s, const shd_s3_call *call, int tries, int64_t since_ms);

/* Ends a HEAD that was begun: what shd_s3_look() does. */
int shd_s3_look_end(shd_s3_object *out, shd_s3 *s, shd_s3_call *call, sherd_error *err);
/* Raises what the answer refuses, or that there is none. */
int shd_s3_call_refuse(const shd_s3 *s, const shd_s3_call *call, sherd_error *err);
/* The text of an element of the answer, in room bytes with NUL; "" when there is none. */
void shd_s3_call_element(const shd_s3_call *call, const char *name, char *out, size_t room);
/* What the headers of an answer say of an object. */
void shd_s3_call_object(const shd_s3_call *call, shd_s3_object *out);
