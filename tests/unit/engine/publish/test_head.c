/* Publishing on a store that is far away: answers get lost, writes arrive late, others come in between. */
#include "support/late_store.h"
#include "support/memory_store.h"
#include "support/test.h"

#include "codec/seal.h"
#include "engine/publish/head.h"

#include <stdlib.h>
#include <string.h>

static sherd_store *far;

static int far_open(void **state)
{
	(void)memory_store_open(state);
	far = late_store_over(store);
	return 0;
}

static int far_close(void **state)
{
	sherd_store_close(far);
	return memory_store_close(state);
}

static int publish(const char *base, const char *text, shd_published *out, sherd_error *err)
{
	const shd_publication p = {.store = far, .key = "head", .base = base, .text = text, .len = strlen(text)};
	return shd_head_publish(&p, out, err);
}

static void assert_head(const char *text)
{
	shd_head now;
	assert_ok(shd_head_read(&now, store, "head", NULL, err));
	assert_string_equal(now.text, text);
	free(now.text);
}

/* The identity of a head that is there before. */
static void put_first(shd_published *out)
{
	assert_ok(publish(NULL, "first", out, err));
	assert_true(out->identity[0] && !out->kept);
}

TEST(one_of_two_wins_and_the_other_is_told)
{
	shd_published first, out;
	put_first(&first);
	assert_refused(SHERD_EEXIST, "exists", publish("", "mine", &out, err));
	assert_false(out.kept);
	assert_ok(publish(first.identity, "second", &out, err));
	assert_refused(SHERD_ECONFLICT, "replaced", publish(first.identity, "third", &out, err));
	assert_false(out.kept);
	assert_head("second");
}

TEST(a_write_whose_answer_was_lost_has_succeeded)
{
	shd_published first, out;
	sherd_stat stat;
	late_store_lose(far, "head", LATE_DONE, 1);
	put_first(&first);
	late_store_lose(far, "head", LATE_DONE, 1);
	assert_ok(publish(first.identity, "second", &out, err));
	assert_false(out.kept);
	assert_ok(sherd_store_stat(&stat, store, "head", err));
	assert_string_equal(out.identity, stat.identity);
}

TEST(a_write_that_was_lost_is_repeated)
{
	shd_published first, out;
	late_store_lose(far, "head", LATE_NEVER, 2);
	put_first(&first);
	late_store_lose(far, "head", LATE_NEVER, 1);
	assert_ok(publish(first.identity, "second", &out, err));
	assert_head("second");
}

TEST(what_arrives_after_its_repetition_changes_nothing)
{
	shd_published first, out;
	put_first(&first);
	late_store_lose(far, "head", LATE_LATER, 1);
	assert_ok(publish(first.identity, "second", &out, err));
	assert_ok(publish(out.identity, "third", &out, err));
	assert_int_equal(late_store_deliver(far), 0);
	assert_head("third");
}

TEST(what_nobody_can_tell_keeps_everything)
{
	shd_published first, out;
	put_first(&first);
	late_store_lose(far, "head", LATE_LATER, 4);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", publish(first.identity, "second", &out, err));
	assert_true(out.kept);
	assert_int_equal(late_store_deliver(far), 1);
	assert_head("second");
}

TEST(a_fence_refuses_what_is_under_way)
{
	shd_published first, fence, out;
	put_first(&first);
	late_store_lose(far, "head", LATE_LATER, 4);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", publish(first.identity, "second", &out, err));
	assert_ok(publish(first.identity, "first, fenced", &fence, err));
	assert_int_equal(late_store_deliver(far), 0);
	assert_head("first, fenced");
}

/* Servers of objects compare hashes of bytes: a fence that wrote the same ones would refuse nobody. */
TEST(a_fence_says_the_same_in_other_bytes)
{
	static const char plain[] = "{\"a\": [1, 2]}\n";
	SHD_AUTO_BUF first = {0};
	SHD_AUTO_BUF second = {0};
	const shd_head head = {.text = (char *)plain, .len = sizeof(plain) - 1};
	assert_ok(shd_head_rewrite(&first, &head, err));
	const shd_head again = {.text = (char *)first.data, .len = first.len};
	assert_ok(shd_head_rewrite(&second, &again, err));
	assert_int_equal(second.len, first.len);
	assert_int_equal(first.len, head.len + 64);
	assert_memory_not_equal(first.data, second.data, first.len);
	assert_memory_equal(second.data + 65, plain + 1, head.len - 1);
	assert_ok(shd_json_check((const char *)second.data, second.len, NULL, err));
}

TEST(a_fence_seals_anew)
{
	SHD_AUTO_BUF sealed = {0};
	SHD_AUTO_BUF out = {0};
	shd_json_writer w;
	shd_json_writer_init(&w, &sealed);
	shd_json_put_object(&w, false);
	shd_json_put_key_u64(&w, "a", 1);
	shd_seal_put(&w);
	shd_head head = {.text = (char *)sealed.data, .len = sealed.len};
	assert_ok(shd_head_rewrite(&out, &head, err));
	assert_int_equal(shd_seal_check(out.data, out.len), SHD_SEAL_GOOD);
	sealed.data[3] ^= 1;
	assert_refused(SHERD_ECONFLICT, "conflict", shd_head_rewrite(&out, &head, err));
}

TEST(a_claim_that_is_no_document_ends_with_what_is_new)
{
	SHD_AUTO_BUF first = {0};
	SHD_AUTO_BUF second = {0};
	assert_ok(shd_head_rewrite(&first, &(shd_head){.text = "17\n", .len = 3}, err));
	assert_ok(shd_head_rewrite(&second, &(shd_head){.text = (char *)first.data, .len = first.len}, err));
	assert_int_equal(first.len, 3 + 64);
	assert_int_equal(second.len, 3 + 64);
	assert_memory_equal(second.data, "17\n", 3);
	assert_memory_not_equal(first.data, second.data, first.len);
}

TEST(a_lost_write_that_others_overtook_is_lost)
{
	shd_published first, out;
	put_first(&first);
	late_store_lose(far, "head", LATE_NEVER, 4);
	assert_refused(SHERD_EUNKNOWN, "unknown-outcome", publish(first.identity, "mine", &out, err));
	assert_ok(publish(first.identity, "theirs", &out, err));
	late_store_lose(far, "head", LATE_NEVER, 1);
	assert_refused(SHERD_ECONFLICT, "replaced", publish(first.identity, "mine", &out, err));
	assert_false(out.kept);
	late_store_lose(far, "head", LATE_NEVER, 1);
	assert_refused(SHERD_EEXIST, "replaced", publish(NULL, "mine", &out, err));
}

/* A head that came after ours still has our part in it. */
static int names_our_part(void *arg, const char *text, size_t len)
{
	return memmem(text, len, arg, strlen(arg)) != NULL;
}

static void come_after(const char *base)
{
	const shd_publication p = {.store = store, .key = "head", .base = base, .text = "a b c", .len = 5};
	shd_published out;
	assert_ok(shd_head_publish(&p, &out, err));
}

TEST(who_won_and_was_followed_sees_its_parts_named)
{
	shd_published first, out;
	sherd_stat stat;
	char part[] = "b";
	put_first(&first);
	late_store_lose(far, "head", LATE_DONE, 1);
	assert_ok(publish(first.identity, "a b", &out, err));
	assert_ok(sherd_store_stat(&stat, store, "head", err));
	come_after(stat.identity);
	/* It looks only now. */
	const shd_publication p = {.store = far,
	                           .key = "head",
	                           .base = first.identity,
	                           .text = "a b",
	                           .len = 3,
	                           .is_ours = names_our_part,
	                           .arg = part};
	late_store_lose(far, "head", LATE_NEVER, 1);
	assert_ok(shd_head_publish(&p, &out, err));
	assert_false(out.kept);
	assert_string_equal(out.identity, ""); /* what came after is not ours to replace */
	assert_head("a b c");
}

TEST(an_age_goes_by_the_clock_of_the_store)
{
	sherd_stat stat;
	const int64_t hour = INT64_C(3600) * 1000000000;
	shd_published first;
	put_first(&first);
	late_store_set_ahead(far, hour);
	assert_ok(sherd_store_stat(&stat, far, "head", err));
	assert_true(sherd_store_now(far) - stat.mtime_ns >= hour);
}

#define FAR_TEST(name) cmocka_unit_test_setup_teardown(name, far_open, far_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAR_TEST(one_of_two_wins_and_the_other_is_told),
		FAR_TEST(a_write_whose_answer_was_lost_has_succeeded),
		FAR_TEST(a_write_that_was_lost_is_repeated),
		FAR_TEST(what_arrives_after_its_repetition_changes_nothing),
		FAR_TEST(what_nobody_can_tell_keeps_everything),
		FAR_TEST(a_fence_refuses_what_is_under_way),
		FAR_TEST(a_fence_says_the_same_in_other_bytes),
		FAR_TEST(a_fence_seals_anew),
		FAR_TEST(a_claim_that_is_no_document_ends_with_what_is_new),
		FAR_TEST(a_lost_write_that_others_overtook_is_lost),
		FAR_TEST(who_won_and_was_followed_sees_its_parts_named),
		FAR_TEST(an_age_goes_by_the_clock_of_the_store),
	};
	return cmocka_run_group_tests_name("head", tests, NULL, NULL);
}
