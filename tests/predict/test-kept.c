/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* State that the service keeps between questions: answers are the same as if it kept nothing. */

#include <string.h>

#include "model/profile.h"
#include "answering.h"
#include "question.h"
#include "store-fixture.h"

#define OWNER 70001
#define OTHER 70002

static const char budget[] = "{\"ask\":\"budget\",\"battery_percent\":40}";
static const char predict[] = "{\"ask\":\"predict\",\"app\":\"game\",\"minutes\":30}";
static const char typo[] = "{\"ask\":\"predict\",\"app\":\"gamo\",\"minutes\":30}";
static const char advise[] = "{\"ask\":\"advise\"}";
static const char whatif[] = "{\"ask\":\"whatif\",\"close\":[\"game\"],\"battery_percent\":40}";

static char profile_path[64];
static struct question_source source = { .database = path, .profile = profile_path };
static struct answering_kept *kept;

static void append(struct store *store, int minute, uint64_t busy_ns)
{
        struct interval interval = { 0 };
        struct interval_row *row;

        make_interval(&interval, START + minute * 60 * S, 60 * NS_PER_S, 0);
        interval.battery.capacity_percent = 40;
        row = add_row(&interval, "game", STATE_FOREGROUND, 60 * NS_PER_S);
        row->uid = OWNER;
        row->usage.have = USAGE_ALL;
        usage_add_cpu(&row->usage, 0, 1000000, busy_ns, busy_ns);
        check_int(store_append(store, &interval), 0);
        interval_clear(&interval);
}

static void record(int from, int to, uint64_t busy_ns)
{
        struct store *store = open_store(STORE_WRITE);

        for (int i = from; i < to; i++)
                append(store, i, busy_ns);
        store_close(store);
}

static void save_profile(double cpu_mw)
{
        struct profile *profile;

        check_int(profile_new("test", 10000, &profile), 0);
        profile->degrees_of_freedom = 20;
        check_int(profile_add_policy(profile, 0, NULL), 0);
        check_int(profile_add(profile, &(struct coefficient){ .value = 100, .standard_error = 1 }), 0);
        check_int(profile_add(profile, &(struct coefficient){ .term = TERM_CPU_ACTIVE,
                                                              .point = 1000000,
                                                              .value = cpu_mw,
                                                              .standard_error = 10 }),
                  0);
        check_int(profile_add(profile, &(struct coefficient){ .term = TERM_CPU_SHARED, .point = 1000000, .value = 50,
                                                              .standard_error = 10 }), 0);
        check_int(profile_save(profile, profile_path), 0);
        profile_free(profile);
}

/* free() it. */
static char *ask(uid_t uid, const char *question)
{
        char *answer = question_answer(&source, uid, question, strlen(question));

        check(answer);
        return answer;
}

static bool is_error(const char *answer)
{
        return strncmp(answer, "{\"error\"", strlen("{\"error\"")) == 0;
}

/* Asks twice: the second answer uses the state kept from the first. */
static void check_as_fresh(uid_t uid, const char *question, bool error)
{
        char *first = ask(uid, question), *second = ask(uid, question), *fresh;

        source.kept = NULL;
        fresh = ask(uid, question);
        source.kept = kept;
        check_text(first, fresh);
        check_text(second, fresh);
        check_int(is_error(fresh), error);
        free(first);
        free(second);
        free(fresh);
}

static void answers_are_the_same(void)
{
        static const char *const questions[] = { budget, predict, advise, whatif };

        for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
                check_as_fresh(OWNER, questions[i], false);
                check_as_fresh(0, questions[i], false);
        }
        check_as_fresh(OWNER, typo, true);
        check(answering_kept_drop(kept));
        check(!answering_kept_drop(kept));
}

/* Drops the kept state like answers_rest() after a poll. */
static void a_poll_is_in_the_next_answer(void)
{
        char *before = ask(OWNER, budget), *old, *new;

        record(120, 140, 55 * NS_PER_S);
        old = ask(OWNER, budget);
        check_text(old, before); /* else nothing was kept, and all else here shows nothing */
        check(answering_kept_drop(kept));
        new = ask(OWNER, budget);
        check(!is_error(new) && strcmp(new, old) != 0);
        check_as_fresh(OWNER, budget, false);
        free(before);
        free(old);
        free(new);
}

static void another_user_gets_their_own(void)
{
        char *others;

        check_as_fresh(OWNER, predict, false);
        check_as_fresh(OTHER, predict, true); /* a user who never had that app */
        check_as_fresh(OWNER, predict, false);
        others = ask(OTHER, typo); /* the error suggests no similar name of another user */
        check(is_error(others) && !strstr(others, "game"));
        free(others);
        check_as_fresh(OTHER, whatif, true);
        check_as_fresh(OTHER, budget, false);
        check_as_fresh(0, predict, false);
}

static int forget(void *data, const struct store_forget *what, struct store_forgotten *ret)
{
        struct store *store = open_store(STORE_WRITE);
        int err = store_forget(store, what, ret);

        store_close(store);
        return err;
}

static void what_is_forgotten_is_in_no_answer(void)
{
        char *answer;

        source.forget = forget;
        check_as_fresh(OWNER, predict, false);
        answer = ask(OWNER, "{\"ask\":\"forget\",\"app\":\"game\"}");
        check(!is_error(answer));
        free(answer);
        check_as_fresh(OWNER, predict, true);
}

static void another_profile_is_used(void)
{
        char *before = ask(OWNER, predict), *after;

        save_profile(3000);
        after = ask(OWNER, predict);
        check(!is_error(after) && strcmp(before, after) != 0);
        check_as_fresh(OWNER, predict, false);
        free(before);
        free(after);
}

static void without_a_database_there_is_no_answer(void)
{
        check_as_fresh(OWNER, budget, false);
        remove_database();
        check_as_fresh(OWNER, budget, true);
}

int main(void)
{
        name_database();
        snprintf(profile_path, sizeof(profile_path), "%s/profile.ini", path_folder);
        check_int(answering_kept_new(&kept), 0);
        source.kept = kept;
        save_profile(1000);
        record(1, 120, 30 * NS_PER_S);
        answers_are_the_same();
        a_poll_is_in_the_next_answer();
        another_user_gets_their_own();
        another_profile_is_used();
        what_is_forgotten_is_in_no_answer();
        without_a_database_there_is_no_answer();
        answering_kept_free(kept);
        unlink(profile_path);
        return check_result();
}
