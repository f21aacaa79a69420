/* tests/support/s3_server.h - a little S3 server on the loopback, in threads of this process, that also makes faults.
 *
 * One bucket, "test"; access key "id", secret "secret", region "here". Signatures and hashes of bodies are checked. */
#pragma once

#include <sherd/store.h>

typedef struct s3_server s3_server;

/* How servers differ. All false: as AWS documents. */
typedef struct s3_quirks {
	bool unquoted;    /* If-Match wants the ETag without quotes */
	bool deaf_put;    /* conditions on PUT are ignored */
	bool deaf_delete; /* If-Match on DELETE is */
	bool angry;       /* whose condition is not met gets 500 */
	bool gone_404;    /* If-Match on PUT where nothing is gets 404 */
	bool no_etag;     /* the answer to a PUT has none */
	bool wild_lists;  /* lists come in no order */
	bool plain_lists; /* keys in lists are not encoded as in a URL */
	bool endless;     /* lists go on where they began, without an object */
	bool own_etags;   /* ETags are no MD5 */
	bool deaf_crc;    /* x-amz-checksum-crc32 is not looked at */
	bool everybody;   /* objects may be read without a signature */
	int page;         /* keys of a page of a list; 0: 1000 */
	int role; /* seconds that credentials of a role last, which it gives as an instance and, at /role, a container
	           */
} s3_quirks;

typedef enum s3_fault {
	S3_RESET,      /* no answer, nothing was done */
	S3_RESET_DONE, /* no answer, but it was done */
	S3_LATE,       /* no answer; done by s3_server_deliver() */
	S3_500,        /* that answer, nothing was done */
	S3_503,
	S3_429,
	S3_DONE_500,    /* that answer, but it was done */
	S3_200_ERROR,   /* an answer of status 200 that says failure, nothing was done */
	S3_STALL,       /* no answer for longer than anybody waits */
	S3_TRUNCATED,   /* half of the body, then the connection ends */
	S3_SHORT,       /* half of the body, and its length is told so */
	S3_OTHER_RANGE, /* the answer to another range */
	S3_403,
	S3_502,       /* a gateway's answer, nothing was done */
	S3_DONE_502,  /* a gateway's answer, but it was done */
	S3_REMOVED,   /* somebody removes the object just before */
	S3_MARKED,    /* somebody removes it by a mark just before */
	S3_SLOW,      /* the answer comes after 0.4 seconds */
	S3_NAMELESS,  /* the answer has neither ETag nor write id */
	S3_EXPIRED,   /* a refusal of credentials that have ended */
	S3_ALL,       /* the whole object, whatever range was asked for */
	S3_AWAY,      /* it sends to the same object, with "?away" behind it */
	S3_ELSEWHERE, /* it sends to another scheme */
	S3_NOWHERE,   /* the answer sends to where nobody answers */
	S3_NONE,      /* all goes well */
} s3_fault;

s3_server *s3_server_start(const s3_quirks *quirks); /* NULL: none */
void s3_server_stop(s3_server *server);
const char *s3_server_endpoint(const s3_server *server);
/* Opens "s3://test/<path>" there, a folder, with further settings "name=value" that end with NULL. */
sherd_store *s3_server_store(s3_server *server, const char *path, ...);

/* The next requests of a method ("" for any) whose target contains a text go wrong; later ones come after. */
void s3_server_fail(s3_server *server, const char *method, const char *target, s3_fault kind, int times);
void s3_server_calm(s3_server *server); /* no faults any more */
int s3_server_left(s3_server *server);  /* faults that did not come to pass */
/* Does what came late, and tells how much of it was done. */
int s3_server_deliver(s3_server *server);
unsigned s3_server_requests(s3_server *server);
unsigned s3_server_checked(s3_server *server);  /* checksums that were right */
unsigned s3_server_unsigned(s3_server *server); /* bodies that the signature does not vouch for */
unsigned s3_server_roles(s3_server *server);    /* how often credentials were given */
unsigned s3_server_uploads(s3_server *server);  /* begun, and neither completed nor aborted */
