/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Forgotten rows are gone, also from the file's bytes; nothing else is, and the machine's sums stay. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "store-fixture.h"

#define STEP (600 * S)
#define END (START + 5 * DAY)
#define OTHER 1001 /* user */

static const struct store_retention retention = { 30, 3, 0 };

/* Five apps of user 1000, and two of another user; the oldest day is kept as a day only, the next as hours. */
static struct store *make(void)
{
        struct store *store = open_store(STORE_WRITE);
        struct interval interval = { 0 };

        for (int64_t end = START + STEP; end <= END; end += STEP) {
                make_interval(&interval, end, (uint64_t)STEP, 5);
                for (unsigned i = 0; i < 2; i++) {
                        struct interval_row *row = add_row(&interval, i ? "private-of-other" : "app-1",
                                                           STATE_BACKGROUND, (uint64_t)STEP);

                        row->uid = OTHER;
                        if (draw() % 3)
                                fill_randomly(&row->usage);
                }
                check_int(store_append(store, &interval), 0);
                check_int(store_roll_up(store, end, &retention), 0);
        }
        interval_clear(&interval);
        return store;
}

static struct sum of(struct store *store, int64_t from_ns, int64_t to_ns, int64_t uid, const char *app)
{
        const struct store_query query = { from_ns, to_ns, STORE_BEST, app, uid };
        struct sum sum = { .last_start_ns = INT64_MIN, .ascending = true };

        check_int(store_rows(store, &query, add_up, &sum), 0);
        return sum;
}

static size_t rows_of(struct store *store, int64_t from_ns, int64_t to_ns, int64_t uid, const char *app)
{
        struct sum sum = of(store, from_ns, to_ns, uid, app);

        sum_clear(&sum);
        return sum.rows;
}

/* Several apps that become one were alive for as long as the longest. */
static void check_same_usage(struct sum a, struct sum b, const char *what)
{
        a.active_ns = b.active_ns = 0;
        check_same(a, b, what);
}

static bool file_has(const char *text)
{
        static const char *const ends[] = { "", "-wal" };
        bool found = false;

        for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
                char name[80], *data;
                struct stat info;
                int fd;

                snprintf(name, sizeof(name), "%s%s", path, ends[i]);
                fd = open(name, O_RDONLY | O_CLOEXEC);
                if (fd < 0 || fstat(fd, &info) < 0)
                        continue;
                data = malloc((size_t)info.st_size + 1);
                check_int(read(fd, data, (size_t)info.st_size), info.st_size);
                found = found || memmem(data, (size_t)info.st_size, text, strlen(text));
                free(data);
                close(fd);
        }
        return found;
}

static void goes_on(struct store *store)
{
        struct interval interval = { 0 };
        size_t before = rows_of(store, INT64_MIN, INT64_MAX, -1, NULL);

        for (int64_t end = END + STEP; end <= END + 2 * DAY; end += STEP) {
                make_interval(&interval, end, (uint64_t)STEP, 5);
                check_int(store_append(store, &interval), 0);
                check_int(store_roll_up(store, end, &keep_all), 0);
        }
        interval_clear(&interval);
        check(rows_of(store, INT64_MIN, INT64_MAX, -1, NULL) > before);
        check_same(total(store, END, END + 2 * DAY, STORE_BEST, NULL),
                   total(store, END, END + 2 * DAY, STORE_RAW, NULL), "what came later");
        check(battery_of_all(store).last_ns == END + 2 * DAY);
}

/* A user's own app, in all that is kept. */
static void one_app(void)
{
        const struct store_forget what = { INT64_MIN, INT64_MAX, 1000, "app-3" };
        struct store *store = make();
        struct store_forgotten done = { 0 };
        struct sum all = total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL),
                   other = of(store, INT64_MIN, INT64_MAX, OTHER, NULL),
                   same_app = of(store, INT64_MIN, INT64_MAX, 1000, "app-4");
        struct store_battery before = battery_of_all(store), after;

        check(rows_of(store, INT64_MIN, INT64_MAX, 1000, "app-3") > 5 && file_has("app-3"));
        check_int(store_forget(store, &what, &done), 0);
        check(!done.whole && !done.stayed_large);
        check_int(done.apps, 1);
        check(done.polls > 100 && done.hours > 40 && done.days >= 4);
        check_int(rows_of(store, INT64_MIN, INT64_MAX, -1, "app-3"), 0);
        check(!file_has("app-3") && file_has("app-4"));
        check_same_usage(total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL), all, "all");
        check_same(of(store, INT64_MIN, INT64_MAX, OTHER, NULL), other, "another user's");
        check_same(of(store, INT64_MIN, INT64_MAX, 1000, "app-4"), same_app, "another app");
        check_same_usage(total(store, INT64_MIN, INT64_MAX, STORE_DAY, NULL),
                         total(store, INT64_MIN, INT64_MAX, STORE_HOUR, NULL), "days");
        check_same_usage(total(store, INT64_MIN, INT64_MAX, STORE_DAY, TUNING_OTHER_APPS),
                         total(store, INT64_MIN, INT64_MAX, STORE_RAW, TUNING_OTHER_APPS), "its other name");
        after = battery_of_all(store);
        check_int(after.discharge_uj, before.discharge_uj);
        check_int(after.elapsed_ns, before.elapsed_ns);
        check_int(store_forget(store, &what, &done), 0);
        check_int(done.apps + done.polls + done.hours + done.days, 0);
        goes_on(store);
        store_close(store);
        remove_database();
}

/* Only the caller's app, and not an app of the same name of another user. */
static void only_own_apps(void)
{
        const struct store_forget what = { INT64_MIN, INT64_MAX, OTHER, NULL };
        struct store *store = make();
        struct store_forgotten done = { 0 };
        struct sum mine = of(store, INT64_MIN, INT64_MAX, 1000, NULL), base = of(store, INT64_MIN, INT64_MAX, -1, "");

        check_int(store_forget(store, &what, &done), 0);
        check_int(done.apps, 2);
        check(!done.whole && !file_has("private-of-other") && file_has("app-1"));
        check_same(of(store, INT64_MIN, INT64_MAX, 1000, NULL), mine, "mine");
        check_same(of(store, INT64_MIN, INT64_MAX, -1, ""), base, "base");
        store_close(store);
        store = open_store(STORE_READ);
        check_int(rows_of(store, INT64_MIN, INT64_MAX, -1, "private-of-other"), 0);
        store_close(store);
        remove_database();
}

/* Forgetting up to a moment leaves later rows unchanged, if they are kept finely enough to be told apart. */
static void a_span(int64_t at_ns)
{
        const struct store_forget before_it = { INT64_MIN, at_ns, 1000, "app-2" };
        struct store *store = make();
        struct store_forgotten done = { 0 };
        struct sum all = total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL),
                   later = of(store, at_ns, INT64_MAX, 1000, "app-2");

        check_int(store_forget(store, &before_it, &done), 0);
        check_int(rows_of(store, INT64_MIN, at_ns, -1, "app-2"), 0);
        check_same(of(store, at_ns, INT64_MAX, 1000, "app-2"), later, "the app, later");
        check_same_usage(total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL), all, "all");
        check_same_usage(total(store, INT64_MIN, INT64_MAX, STORE_DAY, NULL),
                         total(store, INT64_MIN, INT64_MAX, STORE_RAW, NULL), "days");
        goes_on(store);
        store_close(store);
        remove_database();
}

/* Forgets all that was recorded before a moment, or since. */
static void everything(int64_t from_ns, int64_t to_ns, int64_t kept_from_ns, int64_t kept_to_ns)
{
        const struct store_forget what = { from_ns, to_ns, -1, NULL };
        struct store *store = make();
        struct store_forgotten done = { 0 };
        struct sum kept = total(store, kept_from_ns, kept_to_ns, STORE_BEST, NULL);
        int64_t size, smaller;
        struct stat info = { 0 };

        check(kept.rows > 20 || kept_from_ns == kept_to_ns);
        check_int(stat(path, &info), 0);
        size = info.st_size;
        check_int(store_forget(store, &what, &done), 0);
        check(done.whole && done.days > 0 && !done.stayed_large);
        check_int(rows_of(store, from_ns, to_ns, -1, NULL), 0);
        check_same(total(store, INT64_MIN, INT64_MAX, STORE_BEST, NULL), kept, "what stays");
        check_int(stat(path, &info), 0);
        smaller = info.st_size;
        check(smaller < size);
        goes_on(store);
        store_close(store);
        store = open_store(STORE_READ);
        check(rows_of(store, END, INT64_MAX, -1, NULL) > 20);
        store_close(store);
        remove_database();
}

/* Sleeps and charges are the machine's: they go with everything, and stay when apps go. */
static void sleeps_and_charges(void)
{
        struct store_forget what = { INT64_MIN, INT64_MAX, 1000, NULL };
        struct store *store = make();
        struct store_sleep sleeps[4];
        struct store_forgotten done = { 0 };
        int64_t charges = count_in_file("charge");

        append_sleep(store, END + 8 * HOUR, 8 * 3600 * NS_PER_S, INTERVAL_DISCHARGE);
        check_int(store_forget(store, &what, &done), 0);
        check_int(read_sleeps(store, sleeps), 1);
        check(charges > 0 && count_in_file("charge") >= charges);
        what.uid = -1;
        check_int(store_forget(store, &what, &done), 0);
        check_int(read_sleeps(store, sleeps), 0);
        check_int(count_in_file("charge"), 0);
        check_int(count_in_file("interval"), 0);
        check_int(count_in_file("period"), 0);
        check_int(count_in_file("usage"), 0);
        check(!file_has("app-"));
        goes_on(store);
        store_close(store);
        remove_database();
}

/* A store that is only read is not changed. */
static void not_by_readers(void)
{
        const struct store_forget what = { INT64_MIN, INT64_MAX, -1, NULL };
        struct store_forgotten done = { 0 };
        struct store *store = make();
        size_t rows = rows_of(store, INT64_MIN, INT64_MAX, -1, NULL);

        store_close(store);
        store = open_store(STORE_READ);
        check_int(store_forget(store, &what, &done), -EROFS);
        check_int(rows_of(store, INT64_MIN, INT64_MAX, -1, NULL), (int64_t)rows);
        store_close(store);
        remove_database();
}

int main(void)
{
        name_database();
        one_app();
        only_own_apps();
        a_span(END - 7 * HOUR - 20 * 60 * S);     /* within the polls that are kept */
        a_span((END / HOUR - 48) * HOUR); /* within the hours */
        everything(INT64_MIN, INT64_MAX, 0, 0);
        everything(END - 5 * HOUR, INT64_MAX, INT64_MIN, END - 5 * HOUR);
        everything(INT64_MIN, END - 11 * HOUR, END - 11 * HOUR, INT64_MAX);
        sleeps_and_charges();
        not_by_readers();
        return check_result();
}
