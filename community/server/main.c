/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* joulecast-community: stores samples of many devices in a database, and reports on all of them together. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "shared/upload.h"
#include "card-folder.h"
#include "fleet.h"
#include "folder.h"
#include "forget.h"
#include "load.h"
#include "report.h"
#include "serve.h"
#include "shards.h"
#include "writer.h"
#include "util/options.h"
#include "util/text.h"
#include "util/util.h"
#include "util/words.h"

#define PATHS_MAX 4096

static char program_name[] = "joulecast-community";
static const char exits_no_data[] = N_("0 done; 1 it failed; 2 wrong usage; 3 there is no such app or client");
static const struct log program_log = { log_to_stderr, program_name };

static int load_main(int argc, char **argv)
{
        _cleanup_(database_closep) struct database *database = NULL;
        static const char *paths[PATHS_MAX + 1];
        const char *where = NULL;
        bool shared = false;
        const struct option_row rows[] = {
                { .name = "database", .value = "D",
                  .help = N_("the database: a file for SQLite, made if there is none, or postgresql://..."),
                  .text = &where },
                { .name = "shared", .help = N_("others can write FOLDER: follow no links in it, and read at most 4 "
                                               "MiB of each file"),
                  .flag = &shared },
        };
        const struct option_table table = {
                .program = "joulecast-community",
                .called = "joulecast-community load",
                .usage = "joulecast-community load FILE|FOLDER... --database D [--shared]",
                .about = N_("Loads uploads (NDJSON, plain or gzip) into a database. Samples that are in it already "
                            "change nothing. A line that is wrong is left out, and a message names it."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = paths, .max_words = PATHS_MAX,
        };
        struct load_counts counts;
        int code = options_read(&table, argc, argv, &program_log);

        if (code >= 0)
                return code;
        if (!where || !paths[0]) {
                log_error(&program_log, "load: give FILE or FOLDER, and --database");
                return CODE_USAGE;
        }
        if (database_open(where, DATABASE_MAKE, &program_log, &database) < 0)
                return CODE_FAILED;
        if (load_paths(database, (char *const *)paths, shared, &counts) < 0) {
                log_error(&program_log, "load: nothing was loaded");
                return CODE_FAILED;
        }
        printf("%" PRIu64 " file%s: %" PRIu64 " samples are new, %" PRIu64 " were there already, %" PRIu64
               " lines are left out\n",
               counts.files, counts.files == 1 ? "" : "s", counts.added, counts.known, counts.bad);
        if (counts.bad && !counts.added && !counts.known) {
                log_error(&program_log, "load: no line of it is a sample that can be used");
                return CODE_FAILED;
        }
        return counts.unread ? CODE_FAILED : CODE_OK;
}

static int check_client(const char *command, const char *client)
{
        if (!client || (strlen(client) == UPLOAD_CLIENT_DIGITS &&
                        strspn(client, "0123456789abcdef") == UPLOAD_CLIENT_DIGITS))
                return 0;
        log_error(&program_log, "%s: a client is 32 hexadecimal digits, in lower case", command);
        return -EINVAL;
}

static int report_main(int argc, char **argv)
{
        _cleanup_(database_closep) struct database *database = NULL;
        _cleanup_(report_clear) struct report report = { .clients = 0 };
        const char *where = NULL, *client = NULL;
        const char *html = NULL;
        const char *const asked = NULL;
        uint64_t deadline_s = DATABASE_DEADLINE_S;
        bool json = false;
        const struct option_row rows[] = {
                { .name = "database", .value = "D", .help = N_("the database: a file of SQLite, or "
                                                               "postgresql://..."),
                  .text = &where },
                { .name = "client", .value = "ID", .help = N_("add the J-score of this client"), .text = &client },
                { .name = "html", .value = "FILE", .help = N_("write a page for a browser to this file"),
                  .text = &html },
                { .name = "deadline", .value = "S", .help = N_("seconds to wait for an answer of PostgreSQL"),
                  .usual = "600", .count = &deadline_s,
                  .low = 1, .high = 1e6 },
                { .name = "json", .help = N_("answer in JSON"), .flag = &json },
        };
        const struct option_table table = {
                .program = "joulecast-community",
                .called = "joulecast-community report",
                .usage = "joulecast-community report --database D [--client ID] [--json|--html F]",
                .about = N_("Which apps cost everybody battery (hogs), which only some devices (bugs), and\n"
                         "how long batteries last."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        int code = options_read(&table, argc, argv, &program_log);

        if (code >= 0)
                return code;
        if (json)
                words_stop();
        if (!where) {
                log_error(&program_log, "report: give --database");
                return CODE_USAGE;
        }
        if (html && (json || client)) {
                log_error(&program_log, "report: --html is a page of all devices: leave out --json and --client");
                return CODE_USAGE;
        }
        if (check_client("report", client) < 0)
                return CODE_USAGE;
        refresh_before_report(where, &program_log, NULL);
        if (database_open(where, DATABASE_READ, &program_log, &database) < 0)
                return CODE_FAILED;
        database->deadline_s = (int)deadline_s;
        if (report_make(database, asked, &report) < 0) {
                log_error(&program_log, "report: there is none");
                return CODE_FAILED;
        }
        if (html)
                return report_write_html(&report, html, &program_log) < 0 ? CODE_FAILED : CODE_OK;
        return (json ? report_print_json(&report, client) : report_print_text(&report, client)) < 0 ? CODE_FAILED :
               CODE_OK;
}

/* A command that prints one part of a report. */
struct part {
        const char *name, *usage, *about;
        bool of_app;                 /* the command takes the name of an app */
        const char *key;             /* key of the JSON; NULL: the part about one app */
        int (*print)(const struct report *report);
};

static int part_main(const struct part *part, int argc, char **argv)
{
        _cleanup_(database_closep) struct database *database = NULL;
        _cleanup_(report_clear) struct report report = { .clients = 0 };
        const char *where = NULL, *words[2] = { NULL };
        bool json = false;
        const struct option_row rows[] = {
                { .name = "database", .value = "D", .help = N_("the database: a file of SQLite, or "
                                                               "postgresql://..."),
                  .text = &where },
                { .name = "json", .help = N_("answer in JSON"), .flag = &json },
        };
        const struct option_table table = {
                .program = "joulecast-community",
                .called = part->name,
                .usage = part->usage,
                .about = part->about,
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = part->of_app ? words : NULL,
                .max_words = part->of_app, .exits = part->of_app ? exits_no_data : NULL,
        };
        int err, code = options_read(&table, argc, argv, &program_log);

        if (code >= 0)
                return code;
        if (!where || (part->of_app && !words[0])) {
                log_error(&program_log, "%s: give %s--database", strrchr(part->name, ' ') + 1,
                          part->of_app ? "NAME, and " : "");
                return CODE_USAGE;
        }
        refresh_before_report(where, &program_log, NULL);
        if (database_open(where, DATABASE_READ, &program_log, &database) < 0)
                return CODE_FAILED;
        err = report_make(database, words[0], &report);
        if (err < 0)
                return err == -ENOENT ? CODE_NO_DATA : CODE_FAILED;
        return (json ? report_print_json_part(&report, part->key) : part->print(&report)) < 0 ? CODE_FAILED : CODE_OK;
}

static int hogs_main(int argc, char **argv)
{
        static const struct part part = { "joulecast-community hogs", "joulecast-community hogs --database D [--json]",
                                          N_("Apps that cost everybody battery, and what that depends on."), false,
                                          "hogs", report_print_hogs };

        return part_main(&part, argc, argv);
}

static int bugs_main(int argc, char **argv)
{
        static const struct part part = { "joulecast-community bugs", "joulecast-community bugs --database D [--json]",
                                          N_("Apps that take much more on one device than on others."), false, "bugs",
                                          report_print_bugs };

        return part_main(&part, argc, argv);
}

static int app_main(int argc, char **argv)
{
        static const struct part part = { "joulecast-community app",
                                          "joulecast-community app NAME --database D [--json]",
                                          N_("All that is known of one app, by its name or its hash."), true, NULL,
                                          report_print_app };

        return part_main(&part, argc, argv);
}

static int versions_main(int argc, char **argv)
{
        static const struct part part = { "joulecast-community versions",
                                          "joulecast-community versions NAME --database D [--json]",
                                          N_("What each version of an app costs."), true, "versions",
                                          report_print_versions };

        return part_main(&part, argc, argv);
}

static int answer_main(int argc, char **argv)
{
        _cleanup_(database_closep) struct database *database = NULL;
        const char *where = NULL, *words[2] = { NULL };
        const struct option_row rows[] = {
                { .name = "database", .value = "D",
                  .help = N_("the database: a file for SQLite, made if there is none, or postgresql://..."),
                  .text = &where },
        };
        const struct option_table table = {
                .program = "joulecast-community",
                .called = "joulecast-community answer",
                .usage = "joulecast-community answer FOLDER --database D",
                .about = N_("Does for a folder that devices share what serve does over HTTP: loads what they\n"
                         "wrote, forgets who asks for it, and writes a report for each."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = words, .max_words = 1,
        };
        int code = options_read(&table, argc, argv, &program_log);

        if (code >= 0)
                return code;
        if (!where || !words[0]) {
                log_error(&program_log, "answer: give FOLDER, and --database");
                return CODE_USAGE;
        }
        if (database_open(where, DATABASE_MAKE, &program_log, &database) < 0)
                return CODE_FAILED;
        return folder_answer(database, words[0]) < 0 ? CODE_FAILED : CODE_OK;
}

static int serve_main(int argc, char **argv)
{
        struct serve_options options = { .address = "127.0.0.1:8451", .new_clients = 60, .connections = 4,
                                         .report_every_s = 3600, .deadline_s = 30 };
        uint64_t samples = 1000000000, names = 2000000, mib = 1 << 20;
        const struct option_row rows[] = {
                { .name = "database", .value = "D",
                  .help = N_("the database: a file for SQLite, made if there is none, or postgresql://..."),
                  .text = &options.database },
                { .name = "listen", .value = "ADDRESS:PORT", .help = N_("the address at which it waits for a proxy "
                                                                        "that ends TLS"),
                  .usual = "127.0.0.1:8451",
                  .text = &options.address },
                { .name = "new-clients", .value = "N", .help = N_("at most so many new clients of one network in an "
                                                                  "hour"),
                  .usual = "60", .count = &options.new_clients },
                { .name = "most-samples", .value = "N", .help = N_("refuse uploads when the database has so many "
                                                                   "samples"),
                  .usual = "1000000000", .count = &samples, .low = 1, .high = 1e15 },
                { .name = "most-names", .value = "N", .help = N_("refuse new names of apps when the database has so "
                                                                 "many"),
                  .usual = "2000000", .count = &names, .low = 1, .high = 1e15 },
                { .name = "most-mib", .value = "N", .help = N_("refuse uploads when the database has so many "
                                                               "MiB"),
                  .usual = "1048576", .count = &mib, .low = 1, .high = 1e12 },
                { .name = "profiles", .value = "FOLDER",
                  .help = N_("keep profiles that devices share in this folder, and give out the pools in it"),
                  .text = &options.profiles },
                { .name = "connections", .value = "N", .help = N_("number of connections to PostgreSQL"), .usual = "4",
                  .count = &options.connections, .low = 1,
                  .high = POOL_MAX },
                { .name = "report-every", .value = "S", .help = N_("seconds between two reports"), .usual = "3600",
                  .count = &options.report_every_s, .low = 1, .high = 1e6 },
                { .name = "deadline", .value = "S", .help = N_("seconds to wait for an answer of PostgreSQL"),
                  .usual = "30", .count = &options.deadline_s, .low = 1, .high = 1e6 },
        };
        const struct option_table table = {
                .program = "joulecast-community",
                .called = "joulecast-community serve",
                .usage = "joulecast-community serve --database D [--listen ADDRESS:PORT]",
                .about = N_("Takes uploads of devices over HTTP, and tells each what all say together. It speaks no\n"
                         "TLS: put it behind a proxy that does."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        int code = options_read(&table, argc, argv, &program_log);

        if (code >= 0)
                return code;
        if (!options.database) {
                log_error(&program_log, "serve: give --database");
                return CODE_USAGE;
        }
        options.most = (struct quota_counts){ (int64_t)samples, (int64_t)names, (int64_t)mib << 20 };
        return serve_run(&options, &program_log);
}

static int shards_main(int argc, char **argv)
{
        const char *where = NULL, *words[SHARDS_MAX + 1] = { NULL };
        const struct option_row rows[] = {
                { .name = "database", .value = "D", .help = N_("postgresql://... of the coordinator, which is empty"),
                  .text = &where },
        };
        const struct option_table table = {
                .program = "joulecast-community",
                .called = "joulecast-community shards",
                .usage = "joulecast-community shards SHARD... --database D",
                .about = N_("Makes one community of several databases of PostgreSQL. Each SHARD is postgresql://...,"
                            " as\n"
                         "the coordinator's server reaches it, and empty."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = words, .max_words = SHARDS_MAX,
        };
        size_t n = 0;
        int code = options_read(&table, argc, argv, &program_log);

        if (code >= 0)
                return code;
        while (words[n])
                n++;
        if (!where || !n || !database_is_url(where)) {
                log_error(&program_log, "shards: give SHARD..., and --database with postgresql://...");
                return CODE_USAGE;
        }
        return shards_make(where, words, n, &program_log) < 0 ? CODE_FAILED : CODE_OK;
}

/* A command that changes one client. */
struct client_change {
        const char *where, *profiles; /* the folder of profiles may be NULL */
        bool release;
        /* Returns 1; 0: there is no such client; a negative errno. */
        int (*samples)(const struct client_change *change, struct database *database, const char *client);
        int (*cards)(const struct client_change *change, const char *client);
};

static int change_client(const struct option_table *table, const char *name, int argc, char **argv,
                         const struct client_change *change)
{
        _cleanup_(database_closep) struct database *database = NULL;
        int rc, cards, code = options_read(table, argc, argv, &program_log);

        if (code >= 0)
                return code;
        if (!change->where || !table->words[0]) {
                log_error(&program_log, "%s: give CLIENT, and --database", name);
                return CODE_USAGE;
        }
        if (check_client(name, table->words[0]) < 0)
                return CODE_USAGE;
        if (database_open(change->where, DATABASE_WRITE, &program_log, &database) < 0)
                return CODE_FAILED;
        rc = database_run(database, database->ops->begin_write);
        if (rc >= 0)
                rc = change->samples(change, database, table->words[0]);
        if (rc < 0 || database_run(database, "COMMIT") < 0)
                return CODE_FAILED;
        cards = change->cards(change, table->words[0]);
        if (cards < 0) {
                log_error(&program_log, "%s: %s: %s", name, change->profiles, util_reason(cards));
                return CODE_FAILED;
        }
        if (rc == 0 && cards == 0)
                log_error(&program_log, "%s: nothing is kept of client %s", name, table->words[0]);
        return rc == 1 || cards == 1 ? CODE_OK : CODE_NO_DATA;
}

static int forget_samples(const struct client_change *change, struct database *database, const char *client)
{
        struct forgotten forgotten;
        int rc = forget_client(database, client, &forgotten);

        if (rc == 1)
                printf("%" PRId64 " samples and %" PRId64 " apps of %s are removed\n", forgotten.samples,
                       forgotten.apps, client);
        return rc;
}

static int forget_cards(const struct client_change *change, const char *client)
{
        int rc = card_folder_forget(change->profiles, client);

        if (rc == 1)
                printf(_("the profile of %s is removed\n"), client);
        return rc;
}

static int forget_main(int argc, char **argv)
{
        struct client_change change = { .samples = forget_samples, .cards = forget_cards };
        const char *words[2] = { NULL };
        const struct option_row rows[] = {
                { .name = "database", .value = "D", .help = N_("the database: a file of SQLite, or postgresql://..."),
                  .text = &change.where },
                { .name = "profiles", .value = "FOLDER", .help = N_("the folder of profiles that devices share; the "
                                                                    "profiles of the client in it are treated alike"),
                  .text = &change.profiles },
        };
        const struct option_table table = {
                .program = "joulecast-community",
                .called = "joulecast-community forget",
                .usage = "joulecast-community forget CLIENT --database D [--profiles FOLDER]",
                .about = N_("Removes all samples of a client, and, with --profiles, the profiles that it shared."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = words, .max_words = 1,
                .exits = exits_no_data,
        };

        return change_client(&table, "forget", argc, argv, &change);
}

static int quarantine_samples(const struct client_change *change, struct database *database, const char *client)
{
        return forget_quarantine(database, client, !change->release);
}

static int quarantine_cards(const struct client_change *change, const char *client)
{
        return card_folder_quarantine(change->profiles, client, !change->release);
}

static int quarantine_main(int argc, char **argv)
{
        struct client_change change = { .samples = quarantine_samples, .cards = quarantine_cards };
        const char *words[2] = { NULL };
        const struct option_row rows[] = {
                { .name = "database", .value = "D", .help = N_("the database: a file of SQLite, or postgresql://..."),
                  .text = &change.where },
                { .name = "profiles", .value = "FOLDER", .help = N_("the folder of profiles that devices share; the "
                                                                    "profiles of the client in it are treated alike"),
                  .text = &change.profiles },
                { .name = "release", .help = N_("end the quarantine: the client counts again"),
                  .flag = &change.release },
        };
        const struct option_table table = {
                .program = "joulecast-community",
                .called = "joulecast-community quarantine",
                .usage = "joulecast-community quarantine CLIENT --database D [--profiles FOLDER]\n"
                         "                               [--release]",
                .about = N_("Leaves a client out: what it sent counts no more in any report, and it can send "
                            "nothing new. Its samples are kept, so that it can be released."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = words, .max_words = 1,
                .exits = exits_no_data,
        };

        return change_client(&table, "quarantine", argc, argv, &change);
}

static const struct {
        const char *name, *help;
        int (*main)(int argc, char **argv);
} commands[] = {
        { "load", N_("load uploads into a database"), load_main },
        { "serve", N_("take uploads over HTTP, and answer devices"), serve_main },
        { "report", N_("hogs, bugs and how long batteries last, from all devices"), report_main },
        { "hogs", N_("apps that cost everybody battery"), hogs_main },
        { "bugs", N_("apps that take much more on one device"), bugs_main },
        { "app", N_("all that is known of one app"), app_main },
        { "versions", N_("what each version of an app costs"), versions_main },
        { "answer", N_("answer devices that share a folder"), answer_main },
        { "pool", N_("make power models from profiles that devices shared"), pool_main },
        { "shards", N_("make one community of several databases"), shards_main },
        { "forget", N_("remove a client"), forget_main },
        { "quarantine", N_("leave a client out of all reports, or count it again"), quarantine_main },
};

static int print_help(void)
{
        printf("%sjoulecast-community COMMAND [OPTIONS]\n\n", _("Usage: "));
        text_print(stdout, _("Samples of many devices: which apps cost battery on all, and which on some."));
        printf("\n%s\n", _("Commands:"));
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
                printf("  %-11s%s\n", commands[i].name, _(commands[i].help));
        puts("");
        text_print(stdout, _("See joulecast-community COMMAND --help for each command."));
        return CODE_OK;
}

static int run(int argc, char **argv)
{
        if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
                print_help();
                return argc < 2 ? CODE_USAGE : CODE_OK;
        }
        if (strcmp(argv[1], "--version") == 0) {
                puts("joulecast-community " JOULECAST_VERSION);
                return CODE_OK;
        }
        for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
                if (strcmp(argv[1], commands[i].name) == 0)
                        return commands[i].main(argc - 1, argv + 1);
        log_error(&program_log, "there is no command %s; see joulecast-community --help", argv[1]);
        return CODE_USAGE;
}

int main(int argc, char **argv)
{
        words_start();
        util_hold_standard_fds();
        util_end_on_shorter_files();
        return options_finish(run(argc, argv), &program_log);
}
