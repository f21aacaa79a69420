#include "engine/tensors/set.h"

#include "base/map.h"
#include "engine/publish/claim.h"
#include "engine/publish/head.h"
#include "engine/tensors/folder.h"
#include "format/tensor/set_claim.h"

#include <stdlib.h>

enum { MOST_TRIES = 8 };

/* What stood under the head's name when the writing began. */
typedef struct former {
	bool there;
	shd_head head;            /* without its text; or the identity of a vacant one */
	const char *const *parts; /* that it names; none when it cannot be read */
	size_t count;
} former;

/* None when the head cannot be read. */
static int take_parts(shd_conversion *c, const shd_conversion_set *s, former *f, sherd_error *err)
{
	sherd_error unread;
	int rc = s->ops->decode(c, s, f->head.text, f->head.len, &f->parts, &f->count, &unread);
	if (rc == SHERD_ENOMEM && err)
		*err = unread;
	return rc == SHERD_ENOMEM ? rc : SHERD_OK;
}

static int set_look(shd_conversion *c, const shd_conversion_set *s, former *out, sherd_error *err)
{
	sherd_error failure;
	former f = {0};
	int rc = shd_head_read(&f.head, c->store, s->head, NULL, &failure);
	if (rc == SHERD_OK) {
		f.there = true;
		rc = c->replace ? take_parts(c, s, &f, &failure)
		                : shd_fail(&failure, SHERD_EEXIST, "exists", "it exists and may not be replaced");
		free(TAKE(f.head.text));
	}
	int named = rc == SHERD_ENOTFOUND ? shd_folder_look(c->store, s->head, &failure) : 0;
	rc = named < 0 ? named : rc;
	if (named == SHD_NAMES_FOLDER)
		rc = shd_fail(&failure, SHERD_EEXIST, "is-folder", "a folder is in its place");
	if (rc < 0 && rc != SHERD_ENOTFOUND) {
		rc = shd_in_object(&failure, rc, s->head);
		return shd_pass(err, rc, &failure);
	}
	*out = f;
	return SHERD_OK;
}

/* 1 when there is an object of that key, 0 when not. */
static int set_exists(const shd_conversion *c, const char *key, sherd_error *err)
{
	int named = shd_folder_look(c->store, key, err);
	return named == SHD_NAMES_FOLDER ? 0 : named;
}

/* The first object whose name is taken; NULL: none. */
static int find_taken(const shd_conversion *c, const shd_conversion_set *s, const char **out, sherd_error *err)
{
	*out = NULL;
	for (size_t i = 0; i < s->count && !*out; i++) {
		int there = set_exists(c, s->objects[i].key, err);
		TRY(there);
		*out = there ? s->objects[i].key : NULL;
	}
	return SHERD_OK;
}

/* ---- the claim: endings, after the prefix, of all that may have to be cleared */

/* What follows the prefix in the name of an object that a set may have; NULL of any other. */
static const char *ending_of(const shd_conversion_set *s, const char *key)
{
	size_t skip = strlen(s->prefix);
	shd_str name = shd_str_of(key);
	if (name.len <= skip || strncmp(key, s->prefix, skip) != 0 || strchr(key + skip, '/') ||
	    !shd_str_ends(name, s->ops->suffix))
		return NULL;
	return key + skip;
}

static int put_endings(shd_conversion *c, shd_buf *out, const shd_conversion_set *s, const former *old,
                       sherd_error *err)
{
	shd_set_claim claim = {0};
	const char **endings = shd_arena_alloc(&c->arena, s->count + old->count + 1, sizeof(*endings));
	if (!endings)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < s->count + old->count; i++) {
		endings[claim.count] = ending_of(s, i < s->count ? s->objects[i].key : old->parts[i - s->count]);
		claim.count += endings[claim.count] != NULL;
	}
	claim.endings = endings;
	shd_set_claim_encode(&claim, out);
	return shd_buf_check(out, err);
}

typedef struct clearing {
	shd_conversion *c;
	const shd_conversion_set *set;
} clearing;

/* The keys that the head names now. All may be its own when it cannot be read. */
static int read_named(const clearing *k, shd_map *out, bool *unread, char seen[72], sherd_error *err)
{
	sherd_error failure;
	bool ok = true;
	former f = {0};
	int rc = shd_head_read(&f.head, k->c->store, k->set->head, NULL, &failure);
	*unread = rc < 0 && rc != SHERD_ENOTFOUND;
	if (rc == SHERD_OK) {
		rc = k->set->ops->decode(k->c, k->set, f.head.text, f.head.len, &f.parts, &f.count, &failure);
		*unread = rc < 0;
	}
	free(TAKE(f.head.text));
	memcpy(seen, f.head.identity, sizeof(f.head.identity));
	if (rc == SHERD_ENOMEM || rc == SHERD_EIO)
		return shd_pass(err, rc, &failure);
	for (size_t i = 0; ok && i < f.count; i++)
		(void)shd_map_add(out, shd_str_of(f.parts[i]), i, &ok);
	return ok ? SHERD_OK : shd_fail_nomem(err);
}

static int note_dead(const clearing *k, const shd_map *named, const char *ending, shd_buf *out, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	shd_buf_str(&key, k->set->prefix);
	shd_buf_str(&key, ending);
	shd_buf_u8(&key, 0);
	TRY(shd_buf_check(&key, err));
	/* Whoever wrote the claim. */
	if (!ending_of(k->set, (const char *)key.data) ||
	    shd_map_find(named, (shd_str){(char *)key.data, key.len - 1}) != SHD_MAP_NONE)
		return SHERD_OK;
	int rc = shd_parts_note(out, k->c->store, (const char *)key.data, err);
	return rc == SHERD_EINVAL ? SHERD_OK : rc;
}

/* Removes what a dead save wrote or was to remove and the head does not name; nothing when its claim is damaged. Where
 * a dead save may be a slow one, the head changes first. */
static int set_clear_dead(void *arg, shd_str text, sherd_error *err)
{
	const clearing *k = arg;
	SHD_DONE(shd_map_done) shd_map named = {0};
	SHD_AUTO_BUF dead = {0};
	shd_set_claim claim = {0};
	sherd_error damage;
	char seen[72];
	bool unread;
	int rc = shd_set_claim_decode(text.ptr, text.len, &k->c->arena, &claim, &damage);
	if (rc == SHERD_ENOMEM || rc == SHERD_EVERSION) {
		if (err)
			*err = damage;
		return rc;
	}
	TRY(read_named(k, &named, &unread, seen, err));
	if (unread)
		return SHERD_OK;
	for (size_t i = 0; i < claim.count; i++)
		TRY(note_dead(k, &named, claim.endings[i], &dead, err));
	TRY(shd_head_fence(k->c->store, k->set->head, seen, err));
	return shd_parts_clear(&dead, k->c->store, err);
}

static shd_claim_rules rules_of_set(clearing *k)
{
	return (shd_claim_rules){.mode = SHERD_LOCK_EXCLUSIVE, .clear = set_clear_dead, .arg = k};
}

static int claim_set(shd_conversion *c, shd_conversion_set *s, const former *old, shd_claim *out, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	clearing k = {c, s};
	const shd_claim_rules rules = rules_of_set(&k);
	TRY(put_endings(c, &text, s, old, err));
	return shd_claim_take(out, c->store, s->claim, &text, &rules, err);
}

/* ---- the steps */

/* 1 when ready, 0 when the plain names are taken by what belongs to no set, so that others must be used. */
static int set_check_names(shd_conversion *c, const shd_conversion_set *s, const former *old, bool fresh,
                           sherd_error *err)
{
	const char *taken;
	if (old->there || fresh)
		return 1;
	TRY(find_taken(c, s, &taken, err));
	if (!taken)
		return 1;
	if (c->replace && s->ops->beside)
		return 0;
	int rc = c->replace ? shd_fail(err, SHERD_EEXIST, "cannot-replace",
	                               "%.100s does not say to which set this belongs: remove it first",
	                               shd_str_leaf(s->head))
	                    : shd_fail(err, SHERD_EEXIST, "exists", "it exists and may not be replaced");
	return shd_in_object(err, rc, taken);
}

/* 1 when the head is what it was when the writing began, 0 when not. */
static int is_as_it_was(const shd_conversion *c, const shd_conversion_set *s, const former *old, sherd_error *err)
{
	sherd_error failure;
	sherd_stat now;
	int rc = sherd_store_stat(&now, c->store, s->head, &failure);
	if (rc == SHERD_OK)
		return strcmp(now.identity, old->head.identity) == 0;
	if (rc != SHERD_ENOTFOUND && err)
		*err = failure;
	return rc == SHERD_ENOTFOUND ? !*old->head.identity : rc;
}

/* Before the claim lists names, so that it never lists what another made: as check_names(), and 0 when another save is
 * going on, or has finished meanwhile. */
static int check_unclaimed(shd_conversion *c, shd_conversion_set *s, const former *old, bool *fresh, sherd_error *err)
{
	clearing k = {c, s};
	sherd_error failure;
	const shd_claim_rules rules = rules_of_set(&k);
	TRY(shd_claim_clear(c->store, s->claim, &rules, err));
	int ready = set_check_names(c, s, old, *fresh, &failure);
	if (ready > 0)
		return ready;
	int claimed = set_exists(c, s->claim, err), same = claimed < 0 ? claimed : is_as_it_was(c, s, old, err);
	TRY(same);
	if (claimed || !same)
		return 0;
	*fresh |= ready == 0;
	return shd_pass(err, ready, &failure);
}

/* Names and claims: 1 when that is done, 0 when it has to be tried again: the state changed, or with other names. */
static int set_begin(shd_conversion *c, shd_conversion_set *s, former *old, bool *fresh, shd_claim *claim,
                     sherd_error *err)
{
	char attempt[SHD_ATTEMPT_TEXT];
	TRY(set_look(c, s, old, err));
	TRY(shd_attempt(attempt, err));
	TRY(s->ops->name(c, s, old->there || *fresh ? attempt : NULL, err));
	int ready = check_unclaimed(c, s, old, fresh, err);
	if (ready <= 0)
		return ready;
	TRY(claim_set(c, s, old, claim, err));
	ready = is_as_it_was(c, s, old, err);
	if (ready > 0) {
		ready = set_check_names(c, s, old, *fresh, err);
		*fresh |= ready == 0;
	}
	if (ready <= 0)
		(void)shd_claim_drop(claim, NULL);
	return ready;
}

/* The head names parts of this attempt, or such as it created: the same text is ours. */
static int set_publish(const shd_conversion *c, const shd_conversion_set *s, const former *old, const shd_buf *text,
                       bool *kept, sherd_error *err)
{
	const shd_publication p = {
		.store = c->store, .key = s->head, .base = old->head.identity, .text = text->data, .len = text->len};
	shd_published now;
	int rc = shd_head_publish(&p, &now, err);
	*kept = now.kept;
	return shd_in_object(err, rc, s->head);
}

/* Removes the parts of the former set; none of them has a name of the new one's. False: some could not be. */
static bool remove_former(const shd_conversion *c, const shd_conversion_set *s, const former *old)
{
	bool all = true;
	for (size_t i = 0; i < old->count; i++)
		if (ending_of(s, old->parts[i]))
			all &= sherd_store_remove(c->store, old->parts[i], NULL) == SHERD_OK;
	return all;
}

/* *left: something is there that the next save has to clear. */
static int set_write_all(shd_conversion *c, shd_conversion_set *s, const former *old, const shd_claim *claim,
                         bool *left, sherd_error *err)
{
	SHD_AUTO_BUF head = {0};
	bool kept = false;
	c->like = s->head;
	int rc = shd_conversion_write(c, s->objects, s->count, err);
	if (rc == SHERD_OK)
		rc = s->ops->encode(c, s, &head, err);
	if (rc == SHERD_OK)
		rc = shd_claim_check(claim, err);
	if (rc == SHERD_OK)
		rc = set_publish(c, s, old, &head, &kept, err);
	if (rc == SHERD_OK)
		*left = !remove_former(c, s, old);
	else
		*left = kept || !shd_conversion_undo(c, s->objects, s->count);
	return rc;
}

int shd_conversion_set_write(shd_conversion *c, shd_conversion_set *s, sherd_error *err)
{
	shd_claim claim = {0};
	former old = {0};
	bool fresh = false;
	int ready = 0;
	for (int tries = 0; !ready && tries < MOST_TRIES; tries++) {
		ready = set_begin(c, s, &old, &fresh, &claim, err);
		TRY(ready);
	}
	if (!ready)
		return shd_in_object(err, shd_fail(err, SHERD_ECONFLICT, "conflict", "others replace it too often"),
		                     s->head);
	bool left;
	int rc = set_write_all(c, s, &old, &claim, &left, err);
	if (left)
		shd_claim_leave(&claim);
	else
		(void)shd_claim_drop(&claim, NULL);
	return rc;
}
