/* s3/http.h - HTTP requests, many under way at a time; wraps libcurl.
 *
 * A few threads of its own, started when there is work for them, drive one multi handle each, so that connections are
 * used again. Redirects are not followed, certificates are checked, and only http and https are spoken. */
#pragma once

#include "text.h"

#include <sherd/error.h>

typedef struct shd_http shd_http;

typedef struct shd_http_options {
	const char *ca_bundle; /* a file; NULL: the system's */
	long request_ms;       /* a request may take, or be silent; and as much more as its bytes need at 64 per ms */
} shd_http_options;

/* Plain memory of the caller's, to be left alone between start and wait. All zero but what is asked. */
typedef struct shd_http_request {
	const char *method;  /* borrowed, as the body and the sink are */
	shd_s3_text url;     /* freed by shd_http_clean() */
	shd_s3_text headers; /* each line ended by '\n' */
	const void *body;
	size_t body_len;
	void *sink; /* where the body of a 2xx goes, which must have exactly sink_len bytes; NULL: to answer */
	size_t sink_len;
	long most_ms; /* instead of what the options say; 0: that */
	bool direct;  /* by no proxy */

	long status;        /* 0: no whole answer came */
	bool sent;          /* without an answer: may the server have got it? */
	bool lost;          /* was it sent, this time or before, and got no answer? */
	bool timed_out;     /* without an answer */
	bool hopeless;      /* without an answer: and none will come, such as one by a strange certificate */
	bool too_long;      /* without an answer: it is longer than anybody keeps */
	int64_t came_ms;    /* when the head of the answer came, by shd_http_clock_ms() */
	char trouble[256];  /* why there is none */
	shd_s3_text answer; /* the body, if it did not go to the sink */
	shd_s3_text head;   /* header lines of the answer */
	size_t got;         /* bytes in the sink */

	struct shd_http_worker *worker; /* from here on http.c's own */
	struct shd_http_request *next;
	void *easy, *list;
	bool under_way, cancelled;
	int sends;
} shd_http_request;

extern const char shd_http_library[];                    /* its name and version */
int64_t shd_http_clock_ms(void);                         /* CLOCK_MONOTONIC */
long shd_http_bytes_ms(const shd_http_request *request); /* what its bytes may take on a slow link */
int shd_http_open(shd_http **out, const shd_http_options *options, sherd_error *err);
void shd_http_close(shd_http *http); /* NULL is fine; nothing is under way */

/* Is this process a child of the one that opened it? Then it has none of its threads. */
bool shd_http_is_forked(const shd_http *http);
/* Forgets the last answer, and begins. A request that cannot begin has an answer of status 0 at once. */
void shd_http_start(shd_http *http, shd_http_request *request);
void shd_http_wait(shd_http *http, shd_http_request *request);
/* Ends it at once, if it is under way. */
void shd_http_cancel(shd_http *http, shd_http_request *request);
void shd_http_clean(shd_http_request *request);

/* The host of a URL of http or https, IPv6 in brackets; false if it is none, or has no room. */
bool shd_http_host(const char *url, bool *encrypted, char *out, size_t room);
/* Where an answer sends, seen from where it was asked; false when that is no URL of http or https. */
bool shd_http_resolve(const char *url, const char *location, shd_s3_text *out);
/* The value of a header of the answer, in room bytes with NUL; false and "" if it is not there or longer. */
bool shd_http_header(const shd_http_request *request, const char *name, char *out, size_t room);
/* Time of a header such as "Sun, 06 Nov 1994 08:49:37 GMT" in seconds since 1970, or 0. */
int64_t shd_http_time(const shd_http_request *request, const char *name);
