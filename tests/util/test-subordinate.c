/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The owner of a subordinate id, whose limits in usage.db apply to it. */

#include "store-fixture.h"
#include "util/subordinate.h"

static void lines(void)
{
        static const struct {
                const char *text;
                uid_t uid, owner;
        } cases[] = {
                { "", 100000, 100000 },
                { "1000:100000:65536\n", 100000, 1000 },
                { "1000:100000:65536\n", 165535, 1000 },
                { "1000:100000:65536\n", 165536, 165536 },
                { "1000:100000:65536\n", 99999, 99999 },
                { "1000:100000:65536", 100001, 1000 },
                { "1001:165536:65536\n1000:100000:65536\n", 165536, 1001 },
                { "1001:165536:65536\n1000:100000:65536\n", 100000, 1000 },
                { "# a comment\n\n1000:100000:65536\n", 100000, 1000 },
                { "root:200000:10\n", 200009, 200000 },
                { "0:200000:10\n", 0, 0 },
                { "nobody-has-this-name:200000:10\n", 200009, 200009 },
                { "1000:0:65536\n", 0, 0 },
                { "1000:100000:0\n", 100000, 100000 },
                { "1000:100000\n", 100000, 100000 },
                { "1000:-1:5\n", 100000, 100000 },
                { "1000:100000:4294967295\n", 100000, 100000 },
                { "1000:4294967000:200\n", 4294967199, 1000 },
                { "1000:99999999999999999999:5\n", 5, 5 },
                { "1000:100000:65536:7\n", 100000, 100000 },
                { ":100000:65536\n", 100000, 100000 },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                check_int(subordinate_parse(cases[i].text), 0);
                check_int(subordinate_owner(cases[i].uid), cases[i].owner);
                if (subordinate_owner(cases[i].uid) != cases[i].owner)
                        fprintf(stderr, "in: %s", cases[i].text);
        }
}

/* A poll in which each of @n users from @uid on has @apps apps of new names. */
static void append_crowd(struct store *store, int64_t end_ns, uid_t uid, unsigned n, unsigned apps)
{
        struct interval interval = { 0 };

        make_interval(&interval, end_ns, (uint64_t)(30 * S), 0);
        for (unsigned user = 0; user < n; user++)
                for (unsigned i = 0; i < apps; i++) {
                        char app[32];

                        snprintf(app, sizeof(app), "new-%u-%u", user, i);
                        add_row(&interval, app, STATE_BACKGROUND, 30 * NS_PER_S)->uid = uid + user;
                }
        check_int(store_append(store, &interval), 0);
        interval_clear(&interval);
}

static void twenty_ids_are_one_user(void)
{
        struct store *store;

        check_int(subordinate_parse("1000:100000:65536\n"), 0);
        store = open_store(STORE_WRITE);
        append_crowd(store, START, 100000, 20, 1000);
        append_crowd(store, START + 30 * S, 1001, 1, 12);
        check(count_in_file("app WHERE uid BETWEEN 100000 AND 165535 OR uid = 1000") <= TUNING_STORE_APPS_OF_USER + 1);
        check_int(count_in_file("app WHERE uid = 1001"), 12);
        check_int(count_in_file("app WHERE uid = 1000 AND app = '" TUNING_OTHER_APPS "'"), 1);
        store_close(store);
        remove_database();
}

int main(void)
{
        name_database();
        lines();
        twenty_ids_are_one_user();
        return check_result();
}
