/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * `joulecast forget`: deletes records. This program does it where the database is the user's own,
 * else the service.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer.h"
#include "api/answer-fields.h"
#include "api/request.h"
#include "ask.h"
#include "commands.h"
#include "recorded.h"
#include "util/agree.h"
#include "util/drop-root.h"
#include "util/paths.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

struct arguments {
        struct recorded recorded;
        bool all;
};

/* Records that can be deleted: the app's id, how many apps, and the span. */
struct found {
        char app[APP_ID_MAX]; /* "": all */
        size_t apps;
        int64_t from_ns, to_ns;
        bool whole;
};

static bool is_first(const struct usage_table *table, size_t at)
{
        for (size_t i = 0; i < at; i++)
                if (!table->rows[i].base && strcmp(table->rows[i].name, table->rows[at].name) == 0)
                        return false;
        return !table->rows[at].base && strcmp(table->rows[at].name, STORE_OTHERS) != 0;
}

static int find(struct arguments *arguments, bool by_service, struct found *found)
{
        struct recorded *recorded = &arguments->recorded;
        _cleanup_(usage_table_freep) struct usage_table *table = NULL;
        int code = recorded_read(recorded, &table);

        if (code != CODE_OK)
                return code;
        *found = (struct found){ .from_ns = table->from_ns, .to_ns = table->to_ns,
                                 .whole = !recorded->app && (!by_service || geteuid() == 0) };
        for (size_t i = 0; i < table->n_rows; i++) {
                if (!is_first(table, i))
                        continue;
                found->apps++;
                if (recorded->app)
                        snprintf(found->app, sizeof(found->app), "%s", table->rows[i].name);
        }
        if (found->apps == 0 && !found->whole) {
                log_error(&program_log, "nothing of yours was recorded in that time");
                return CODE_NO_DATA;
        }
        return CODE_OK;
}

static int ask_user(const struct found *found, const struct options *options)
{
        char span[128], question[512];

        if (options->yes)
                return CODE_OK;
        if (!isatty(STDIN_FILENO)) {
                log_error(&program_log, "no terminal to ask on; use --yes to forget");
                return CODE_FAILED;
        }
        answer_print_span(found->from_ns, found->to_ns, NAN, span);
        if (*found->app)
                snprintf(question, sizeof(question), _("Forget what %s used, in %s?"), found->app, span);
        else if (found->whole)
                snprintf(question, sizeof(question),
                         words_counted("Forget all that was recorded in %s, of %zu app?",
                                       "Forget all that was recorded in %s, of %zu apps?", found->apps),
                         span, found->apps);
        else
                snprintf(question, sizeof(question),
                         words_counted("Forget what your %zu app used, in %s?",
                                       "Forget what your %zu apps used, in %s?", found->apps), found->apps, span);
        if (agree_ask(stdout, question))
                return CODE_OK;
        printf("%s\n", _("Nothing was forgotten."));
        log_tell();
        return CODE_FAILED;
}

static int forget_by_service(const char *socket, const struct store_forget *what, struct store_forgotten *ret)
{
        struct joulecast_context context = { .log = program_log };
        const struct joulecast_usage usage = { .context = &context, .service = (char *)socket };
        struct request request;

        request_begin(&request, "forget", NULL);
        request_text(&request, "app", what->app);
        request_time(&request, "from", what->from_ns);
        request_time(&request, "to", what->to_ns);
        return request_read(&request, &usage, forgotten_fields, ret);
}

/* Root becomes the owner of the database: files that SQLite creates beside it must be the owner's. */
static int forget_in_file(const struct options *options, const char *path, const struct store_forget *what,
                          struct store_forgotten *ret)
{
        _cleanup_(store_closep) struct store *store = NULL;
        struct stat status;
        int err;

        if (stat(path, &status) < 0)
                return -errno;
        if (geteuid() == 0 && status.st_uid != 0) {
                err = drop_root_to(status.st_uid, status.st_gid);
                if (err) {
                        log_error(&program_log, "cannot become the owner of %s: %s", path, strerror(-err));
                        return err;
                }
        }
        err = store_open(path, options->device ? STORE_SIMULATE_MORE : STORE_WRITE, &program_log, &store);
        return err ? err : store_forget(store, what, ret);
}

/* The socket of the service, if it has the database; NULL: the file is the user's to write. 0 or a negative errno. */
static int find_service(const struct options *options, char **path, const char **socket)
{
        int err = options->database ? 0 : paths_usage(options->device, false, path);

        if (!err && options->database)
                *path = strdup(options->database);
        if (err || !*path)
                return err ? err : -ENOMEM;
        *socket = NULL;
        if (options->database || options->device)
                return 0;
        if (access(*path, W_OK) < 0 || (geteuid() == 0 && service_pid(service_path()) >= 0))
                *socket = service_path();
        return 0;
}

/* Tells that the power model stays. What it learnt of apps has no users and times, and belongs to the machine. */
static void print_what_stays(const struct options *options, bool by_service)
{
        _cleanup_free_ char *path = NULL;

        if (by_service && geteuid() != 0)
                table_note("What the machine's power model learnt of apps stays, without users; root can remove it.");
        else if (paths_everyday(options->device, &path) == 0 && access(path, F_OK) == 0)
                table_note("The power model stays, with what it learnt of apps (joulecast profile reset "
                           "removes it), and so do the spans of everyday use that it is learnt from, in %s.", path);
        else
                table_note("The power model stays, with what it learnt of apps; joulecast profile reset removes it.");
}

static int print_forgotten(const struct store_forgotten *done, const struct options *options, bool by_service)
{
        char apps[48], polls[48], hours[48], days[48];

        if (done->polls + done->hours + done->days == 0) {
                printf("%s\n", _("There was nothing to forget."));
                return CODE_OK;
        }
        snprintf(apps, sizeof(apps), words_counted("%llu app", "%llu apps", done->apps),
                 (unsigned long long)done->apps);
        snprintf(polls, sizeof(polls), words_counted("%llu poll", "%llu polls", done->polls),
                 (unsigned long long)done->polls);
        snprintf(hours, sizeof(hours), words_counted("%llu hour", "%llu hours", done->hours),
                 (unsigned long long)done->hours);
        snprintf(days, sizeof(days), words_counted("%llu day", "%llu days", done->days),
                 (unsigned long long)done->days);
        printf(_("Forgotten: %s, in %s, %s and %s."), apps, polls, hours, days);
        printf("\n\n");
        if (!done->whole)
                table_note("What they used stays in the sums of the machine, as other programs of nobody.");
        print_what_stays(options, by_service);
        if (done->stayed_large)
                table_note("The file could not be written anew, and parts that are no longer used may still "
                           "have names: see the message before, and forget again.");
        return CODE_OK;
}

static int forget(struct arguments *arguments)
{
        struct recorded *recorded = &arguments->recorded;
        struct options *options = &recorded->options;
        _cleanup_free_ char *path = NULL;
        const char *socket = NULL;
        struct store_forgotten done = { 0 };
        struct store_forget what;
        struct found found;
        int code, err = find_service(options, &path, &socket);

        if (err) {
                log_error(&program_log, "there is no home folder to look in; use --database FILE");
                return CODE_FAILED;
        }
        code = find(arguments, socket, &found);
        if (code == CODE_OK)
                code = ask_user(&found, options);
        if (code != CODE_OK)
                return code;
        what = (struct store_forget){ recorded->from.ns, recorded->to_ns, -1, *found.app ? found.app : NULL };
        err = socket ? forget_by_service(socket, &what, &done) : forget_in_file(options, path, &what, &done);
        if (err)
                return CODE_FAILED; /* said already */
        return options->json ? answer_print_json(answer_json(forgotten_fields, &done, NULL)) :
                               print_forgotten(&done, options, socket);
}

int forget_main(int argc, char **argv)
{
        struct arguments arguments = { .recorded = { .from.ns = INT64_MIN, .to_ns = INT64_MAX } };
        struct recorded *recorded = &arguments.recorded;
        const struct option_row rows[] = {
                { "app", "APP", N_("delete only what this app used: its id, its name, or a part of it"),
                  .text = &recorded->app },
                OPTIONS_FROM(&recorded->from),
                { "before", "T", N_("end: a time as with --from"), OPTION_TIME(&recorded->to_ns) },
                { "all", NULL, N_("delete everything, from the first record to the last"), .flag = &arguments.all },
        };
        const struct option_table command = {
                .called = "joulecast forget",
                .usage = "joulecast forget [--app APP] [--from T | --since WHAT] [--before T]\n"
                         "                 [--yes]\n"
                         "joulecast forget --all [--yes]",
                .about = N_("Deletes what was recorded: of one app, of a span of time, or everything. It asks "
                            "first, and then says what it has deleted. In a database of your own, or as root, a "
                            "span of time or --all takes everything in it: apps, polls, sums, sleeps and charges. "
                            "With --app, and in the service's database without root, only apps are deleted, of the "
                            "service's only your own; what they used stays in the sums of the whole machine, "
                            "without name and user. Recording goes on; the power model stays."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        bool some;
        int code = options_parse(&command, SHARED_DEVICE | SHARED_DATABASE | SHARED_JSON | SHARED_YES, argc,
                                 argv, &recorded->options);

        if (code >= 0)
                return code;
        some = recorded->app || recorded->from.word || recorded->from.ns != INT64_MIN || recorded->to_ns != INT64_MAX;
        if (some == arguments.all) {
                log_error(&program_log, "%s", some ? _("--all is everything; give it alone") :
                                                     _("what is to be forgotten? give --app, --since, "
                                                       "--before or --all"));
                return CODE_USAGE;
        }
        code = ask_check_span("forget", &recorded->from, recorded->to_ns);
        return code == CODE_OK ? forget(&arguments) : code;
}
