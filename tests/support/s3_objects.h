/* tests/support/s3_objects.h - what the little S3 server holds, and what it answers. */
#pragma once

#include "support/s3_server.h"

#include "s3/text.h"

#include <time.h>

typedef struct s3_request {
	char method[8];
	char path[4096], query[4096]; /* as they came */
	shd_s3_text headers;          /* each line ended by '\n' */
	char *body;
	size_t len;
} s3_request;

typedef struct s3_answer {
	int status;
	shd_s3_text headers; /* each line ended by "\r\n" */
	shd_s3_text body;
	size_t length; /* of the body of what HEAD asks for */
} s3_answer;

typedef struct s3_objects s3_objects;

s3_objects *s3_objects_new(const s3_quirks *quirks);
void s3_objects_free(s3_objects *objects);
void s3_objects_answer(s3_objects *objects, const s3_request *request, s3_answer *answer);
unsigned s3_objects_checked(const s3_objects *objects);
unsigned s3_objects_uploads(const s3_objects *objects);

/* The value of a header, in room bytes; false when there is none. */
bool s3_request_header(const s3_request *request, const char *name, char *out, size_t room);
/* Takes "bytes=1-2" apart. */
void s3_request_range(const char *range, unsigned long long *from, unsigned long long *to);
void s3_answer_error(s3_answer *answer, int status, const char *code);
