#include "put.h"
#include "call.h"
#include "sign.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

typedef struct put_state {
	shd_s3 *s;
	const shd_s3_putting *p;
	shd_s3_manners manners;
	shd_s3_call call;
	char write_id[SHD_S3_WRITE_ID], hash[SHD_S3_HASH_HEX];
	char replaces[SHD_S3_MOST_ETAG]; /* ETag of what may be replaced, "" for nothing */
	bool lost;                       /* some try got no answer */
	shd_s3_object now;
} put_state;

void shd_s3_new_write_id(char out[SHD_S3_WRITE_ID])
{
	unsigned char bytes[(SHD_S3_WRITE_ID - 1) / 2] = {0};
	(void)getrandom(bytes, sizeof(bytes), 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

void shd_s3_condition(const shd_s3_manners *manners, const char *etag, char *out)
{
	(void)snprintf(out, SHD_S3_MOST_ETAG + 2, manners->unquoted ? "%s" : "\"%s\"", etag);
}

static bool is_conditional(const shd_s3_putting *p)
{
	return p->exclusive || p->if_identity;
}

static int put_taken(const shd_s3_putting *p, sherd_error *err)
{
	if (p->exclusive)
		return sherd_fail(err, SHERD_EEXIST, "exists", "the object exists");
	return sherd_fail(err, SHERD_ECONFLICT, "replaced", "another object has taken its place");
}

/* Looks what there is now, and finds out whether the condition can be met. *ours: the write is there already. */
static int put_look(put_state *u, bool *ours, sherd_error *err)
{
	const shd_s3_putting *p = u->p;
	TRY(shd_s3_look(&u->now, u->s, p->key, err));
	*ours = strcmp(u->now.write_id, u->write_id) == 0;
	if (*ours)
		return SHERD_OK;
	bool possible = p->if_identity ? shd_s3_is(&u->now, p->if_identity) : !p->exclusive || !u->now.there;
	if (!possible)
		return put_taken(p, err);
	(void)snprintf(u->replaces, sizeof(u->replaces), "%s", u->now.etag);
	return SHERD_OK;
}

static int put_once(put_state *u, sherd_error *err)
{
	const shd_s3_putting *p = u->p;
	char condition[SHD_S3_MOST_ETAG + 2];
	shd_s3_call *c = &u->call;
	shd_s3_call_end(u->s, c);
	*c = (shd_s3_call){.method = "PUT", .key = p->key, .once = true};
	c->http.body = p->mark ? shd_s3_mark : p->body;
	c->http.body_len = p->mark ? strlen(shd_s3_mark) : p->len;
	memcpy(c->hash, u->hash, sizeof(u->hash));
	if (!c->hash[0] || u->manners.crc)
		(void)shd_s3_call_vouch(u->s, c, u->manners.crc);
	shd_s3_call_header(c, "x-amz-meta-sherd-write", "%s", u->write_id);
	if (p->mark)
		shd_s3_call_header(c, "x-amz-meta-sherd-removed", "1");
	if (is_conditional(p) && u->manners.put && u->replaces[0]) {
		shd_s3_condition(&u->manners, u->replaces, condition);
		shd_s3_call_header(c, "if-match", "%s", condition);
	} else if (p->exclusive && u->manners.put) {
		shd_s3_call_header(c, "if-none-match", "*");
	}
	TRY(shd_s3_call_start(u->s, c, err));
	int rc = shd_s3_call_finish(u->s, c, err);
	memcpy(u->hash, c->hash, sizeof(u->hash));
	u->lost = u->lost || c->lost;
	if (rc == SHERD_OK && c->http.status >= 200 && c->http.status < 300)
		shd_s3_call_object(c, &u->now);
	return rc == SHERD_ENOMEM ? rc : SHERD_OK;
}

/* What failed for good; where a try got no answer, nobody knows what comes. */
static int put_give_up(const put_state *u, int rc, sherd_error *err)
{
	if (u->lost)
		return sherd_fail(err, SHERD_EUNKNOWN, "unknown-outcome",
		                  "a write got no sure answer and may have happened%s%.100s",
		                  *u->call.http.trouble ? ": " : "", u->call.http.trouble);
	return rc < 0 ? rc : shd_s3_call_refuse(u->s, &u->call, err);
}

/* Does the answer say that the condition is not met? Where what was to be replaced is gone, some say that. */
static bool put_is_unmet(const put_state *u)
{
	char code[64];
	long status = u->call.http.status;
	if (status == 404 && u->replaces[0]) {
		shd_s3_call_element(&u->call, "Code", code, sizeof(code));
		return strcmp(code, "NoSuchBucket") != 0;
	}
	return is_conditional(u->p) && (status == 412 || status == 409);
}

/* Writes until it is known what became of it. */
static int put_settle(put_state *u, sherd_error *err)
{
	int64_t since = shd_http_clock_ms();
	for (int tries = 0;; tries++) {
		bool ours = false;
		int rc = put_once(u, err);
		if (rc < 0)
			return put_give_up(u, rc, err);
		long status = u->call.http.status;
		if (status >= 200 && status < 300)
			return SHERD_OK;
		bool unmet = put_is_unmet(u);
		if (!unmet && !shd_s3_call_may_help(&u->call))
			return put_give_up(u, SHERD_OK, err);
		/* Losers may be told anything, and winners too: what is there decides. */
		bool was_empty = !u->replaces[0];
		rc = put_look(u, &ours, err);
		if (ours)
			return SHERD_OK;
		if (rc < 0) {
			u->lost = u->lost || (status >= 500 && rc != SHERD_EEXIST && rc != SHERD_ECONFLICT);
			return put_give_up(u, rc, err);
		}
		if (unmet && was_empty && u->replaces[0] && tries < u->s->config.retries)
			continue; /* a mark: it can be replaced */
		if (!shd_s3_call_pause(u->s, &u->call, tries, since))
			return unmet && !u->lost ? put_taken(u->p, err) : put_give_up(u, SHERD_OK, err);
	}
}

static int put_all(put_state *u, sherd_error *err)
{
	const shd_s3_putting *p = u->p;
	bool ours;
	TRY(shd_s3_ask_manners(&u->manners, u->s, err));
	/* What is to be replaced has to be known; a server that ignores conditions is asked before, which is why
	 * nobody else may write then. */
	if (p->if_identity || (p->exclusive && !u->manners.put))
		TRY(put_look(u, &ours, err));
	TRY(put_settle(u, err));
	if (!u->now.etag[0]) { /* it is written, but not to be told from what comes after it */
		int rc = shd_s3_look(&u->now, u->s, p->key, err);
		u->lost = true;
		if (rc < 0)
			return put_give_up(u, rc, err);
	}
	(void)snprintf(u->now.write_id, sizeof(u->now.write_id), "%s", u->write_id);
	return SHERD_OK;
}

int shd_s3_put(shd_s3 *s, const shd_s3_putting *p, char *identity, sherd_error *err)
{
	put_state u = {.s = s, .p = p};
	shd_s3_new_write_id(u.write_id);
	int rc = put_all(&u, err);
	if (identity && rc == SHERD_OK)
		shd_s3_identity(&u.now, identity);
	shd_s3_call_end(s, &u.call);
	return rc;
}
