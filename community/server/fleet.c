/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast-community pool`: editions of pooled profiles. */

#include "fleet.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "util/ini-text.h"
#include "util/options.h"
#include "util/portable.h"
#include "util/util.h"
#include "util/words.h"

#define DAY_S 86400
#define MATCH_MAX (INI_LINE_MAX - 16) /* a longer line cannot be read */
#define FIRST_MONDAY_S (4 * DAY_S) /* 1970-01-05 */

static char program_name[] = "joulecast-community";
static const struct log program_log = { log_to_stderr, program_name };

struct edition {
        const struct fleet *fleet;
        const char *folder;
        char date[16];
        const struct log *log;
        cJSON *list;  /* the pools that were written */
        uint64_t few; /* groups that are too few */
};

int64_t fleet_edition(int64_t now_s)
{
        return now_s - (now_s - FIRST_MONDAY_S) % (7 * DAY_S);
}

static int by_age(const void *a, const void *b)
{
        const struct fleet_card *x = *(const struct fleet_card *const *)a,
                                *y = *(const struct fleet_card *const *)b;
        int order = (x->since_s > y->since_s) - (x->since_s < y->since_s);

        return order ? order : strcmp(x->client, y->client);
}

/*
 * One network counts at most half as many devices as all others, but three: the
 * oldest. So who invents devices in one network is hardly more than a third.
 * @counts: two zeros for each network.
 */
static size_t bound_networks(const struct fleet_card **group, size_t n, size_t (*counts)[2],
                             unsigned *networks)
{
        size_t kept = 0;

        qsort(group, n, sizeof(*group), by_age);
        *networks = 0;
        for (size_t i = 0; i < n; i++)
                *networks += counts[group[i]->network][0]++ == 0;
        for (size_t i = 0; i < n; i++) {
                size_t *count = counts[group[i]->network];

                if (count[1]++ < MAX((n - count[0]) / 2, (size_t)FLEET_NETWORKS_MIN))
                        group[kept++] = group[i];
        }
        return kept;
}

static int set_texts(const struct edition *edition, enum card_part part, const char *name, size_t n,
                     unsigned networks, struct profile *pool)
{
        char key[16], devices[24], from[24];
        int err;

        snprintf(key, sizeof(key), "x-%s", card_words[part]);
        snprintf(devices, sizeof(devices), "%zu", n);
        snprintf(from, sizeof(from), "%u", networks);
        snprintf(pool->device, sizeof(pool->device), "%.*s", (int)sizeof(pool->device) - 1, name);
        snprintf(pool->method, sizeof(pool->method), "import");
        if (part == CARD_MODEL && asprintf(&pool->match, "dmi:%s|dmi:%s *|dt:%s", name, name, name) < 0) {
                pool->match = NULL;
                return -ENOMEM;
        }
        if (pool->match && strlen(pool->match) > MATCH_MAX) {
                free(pool->match);
                pool->match = NULL;
        }
        err = profile_set_extra(pool, "profile", "x-pool", card_words[part]);
        err = err ? err : profile_set_extra(pool, "profile", key, name);
        err = err ? err : profile_set_extra(pool, "profile", "x-devices", devices);
        err = err ? err : profile_set_extra(pool, "profile", "x-networks", from);
        return err ? err : profile_set_extra(pool, "profile", "x-edition", edition->date);
}

static bool is_written(const struct edition *edition, const char *file)
{
        const cJSON *item;

        cJSON_ArrayForEach(item, edition->list) {
                const char *written = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "file"));

                if (written && strcmp(written, file) == 0)
                        return true;
        }
        return false;
}

static int write_pool(struct edition *edition, enum card_part part, const char *name, size_t n,
                      unsigned networks, struct profile *pool)
{
        _cleanup_free_ char *path = NULL;
        char file[CARD_FILE_SIZE];
        cJSON *item;
        int err = set_texts(edition, part, name, n, networks, pool);

        card_file(part, name, file);
        if (!err && is_written(edition, file)) {
                log_warning(edition->log, "%s: two groups would have this file; only the first is given out", file);
                return 0;
        }
        if (err || asprintf(&path, "%s/%s", edition->folder, file) < 0)
                return err ? err : -ENOMEM;
        err = profile_save(pool, path);
        if (err) {
                log_error(edition->log, "%s: cannot be written: %s", path, util_reason(err));
                return err;
        }
        item = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(item, card_words[part], name);
        (void)cJSON_AddStringToObject(item, "file", file);
        (void)cJSON_AddNumberToObject(item, "devices", (double)n);
        (void)cJSON_AddNumberToObject(item, "networks", networks);
        (void)cJSON_AddNumberToObject(item, "coefficients", (double)pool->n_coefficients);
        return cJSON_AddItemToArray(edition->list, item) ? 0 : -ENOMEM;
}

static int pool_group(struct edition *edition, enum card_part part, const struct fleet_card **group, size_t n)
{
        _cleanup_free_ size_t(*counts)[2] = calloc(edition->fleet->networks, sizeof(*counts));
        _cleanup_(profile_freep) struct profile *pool = NULL;
        const char *name = card_name(group[0]->card, part);
        unsigned networks;
        size_t kept;
        int err;

        if (!counts)
                return -ENOMEM;
        kept = bound_networks(group, n, counts, &networks);
        err = fleet_pool(group, kept, part, &pool);
        if (err == -ENODATA) {
                edition->few++;
                return 0;
        }
        return err ? err : write_pool(edition, part, name, kept, networks, pool);
}

static int by_name(const void *a, const void *b, void *data)
{
        const struct fleet_card *x = *(const struct fleet_card *const *)a,
                                *y = *(const struct fleet_card *const *)b;
        enum card_part part = *(const enum card_part *)data;
        int order = strcmp(card_name(x->card, part), card_name(y->card, part));

        return order ? order : strcmp(x->client, y->client);
}

static int pool_part(struct edition *edition, enum card_part part)
{
        const struct fleet *fleet = edition->fleet;
        _cleanup_free_ const struct fleet_card **list = calloc(fleet->n + 1, sizeof(*list));
        size_t end;
        int err = 0;

        if (!list)
                return -ENOMEM;
        for (size_t i = 0; i < fleet->n; i++)
                list[i] = &fleet->cards[i];
        qsort_r(list, fleet->n, sizeof(*list), by_name, &part);
        for (size_t i = 0; !err && i < fleet->n; i = end) {
                const char *name = card_name(list[i]->card, part);

                end = i + 1;
                while (end < fleet->n && strcmp(name, card_name(list[end]->card, part)) == 0)
                        end++;
                if (*name)
                        err = pool_group(edition, part, list + i, end - i);
        }
        return err;
}

/* Is the file a pool, of this edition or an earlier one? */
static int is_pool(const struct dirent *entry)
{
        const char *name = entry->d_name, *end = name + strlen(name);

        for (int part = 0; part < CARD_PARTS; part++) {
                size_t length = strlen(card_words[part]);

                if (strncmp(name, card_words[part], length) == 0 && name[length] == '-' && end - name > 13 &&
                    strcmp(end - 4, ".ini") == 0 && strspn(end - 12, "0123456789abcdef") == 8)
                        return 1;
        }
        return 0;
}

/* Removes pools that this edition no longer has. */
static int remove_before(const struct edition *edition)
{
        _cleanup_close_ int fd = open(edition->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct dirent **entries = NULL;
        int n = fd < 0 ? -1 : portable_scandir(fd, &entries, is_pool, alphasort), err = n < 0 ? -errno : 0;

        for (int i = 0; i < n; i++) {
                if (!is_written(edition, entries[i]->d_name) && unlinkat(fd, entries[i]->d_name, 0) < 0 &&
                    errno != ENOENT)
                        err = -errno;
                free(entries[i]);
        }
        free(entries);
        if (err)
                log_error(edition->log, "%s: what is there cannot be replaced: %s", edition->folder,
                          util_reason(err));
        return err;
}

static void tell(const struct edition *edition)
{
        const struct fleet *fleet = edition->fleet;
        const cJSON *item;

        printf(_("Edition %s: %zu devices shared their profiles; left out: %" PRIu64
                 " younger than a week, %" PRIu64 " that cannot be read, %" PRIu64
                 " that are there twice, %" PRIu64 " in quarantine.\n"),
               edition->date, fleet->n, fleet->young, fleet->bad, fleet->twice, fleet->quarantined);
        cJSON_ArrayForEach(item, edition->list)
                printf(_("%s: %.0f coefficients of %.0f devices in %.0f networks\n"),
                       cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "file")),
                       cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(item, "coefficients")),
                       cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(item, "devices")),
                       cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(item, "networks")));
        printf(_("%" PRIu64 " models and parts have fewer than %d devices in %d "
                 "networks, and nothing is given out.\n"),
               edition->few, FLEET_DEVICES_MIN, FLEET_NETWORKS_MIN);
}

static int tell_json(const struct edition *edition, cJSON **list)
{
        _cleanup_free_ char *text = NULL;
        cJSON *object = cJSON_CreateObject(), *left = NULL;

        (void)cJSON_AddStringToObject(object, "edition", edition->date);
        (void)cJSON_AddNumberToObject(object, "devices", (double)edition->fleet->n);
        left = cJSON_AddObjectToObject(object, "left_out");
        (void)cJSON_AddNumberToObject(left, "young", (double)edition->fleet->young);
        (void)cJSON_AddNumberToObject(left, "bad", (double)edition->fleet->bad);
        (void)cJSON_AddNumberToObject(left, "twice", (double)edition->fleet->twice);
        (void)cJSON_AddNumberToObject(left, "quarantined", (double)edition->fleet->quarantined);
        (void)cJSON_AddNumberToObject(object, "too_few", (double)edition->few);
        if (cJSON_AddItemToObject(object, "pools", *list))
                *list = NULL;
        text = object ? cJSON_Print(object) : NULL;
        cJSON_Delete(object);
        if (!text)
                return -ENOMEM;
        puts(text);
        return 0;
}

int fleet_write(const char *folder, const char *output, int64_t edition_s, bool json, const struct log *log)
{
        struct fleet fleet;
        struct edition edition = { .fleet = &fleet, .folder = output, .log = log };
        time_t time = edition_s;
        struct tm tm;
        int err = fleet_read(folder, edition_s, log, &fleet);

        if (err)
                return err;
        strftime(edition.date, sizeof(edition.date), "%Y-%m-%d", gmtime_r(&time, &tm));
        if (mkdir(output, 0755) < 0 && errno != EEXIST) {
                err = -errno;
                log_error(log, "%s: cannot be made: %s", output, util_reason(err));
        }
        edition.list = cJSON_CreateArray();
        err = err ? err : edition.list ? 0 : -ENOMEM;
        for (int part = 0; !err && part < CARD_PARTS; part++)
                err = pool_part(&edition, (enum card_part)part);
        if (!err)
                err = remove_before(&edition);
        if (err == -ENOMEM)
                log_error(log, "pool: there is not enough memory");
        if (!err && json)
                err = tell_json(&edition, &edition.list);
        else if (!err)
                tell(&edition);
        cJSON_Delete(edition.list);
        fleet_clear(&fleet);
        return err;
}

/* "2026-11-23", which need be no Monday. */
static int parse_date(const char *text, int64_t *ret)
{
        struct tm tm = { 0 };
        const char *end = strptime(text, "%Y-%m-%d", &tm);

        if (!end || *end)
                return -EINVAL;
        *ret = timegm(&tm);
        return 0;
}

int pool_main(int argc, char **argv)
{
        const char *words[2] = { NULL }, *output = NULL, *date = NULL;
        bool json = false;
        const struct option_row rows[] = {
                { .name = "output",
                  .value = "FOLDER",
                  .help = N_("the folder to which the pools are written; made if there is none"),
                  .text = &output },
                { .name = "edition",
                  .value = "DATE",
                  .help = N_("make the pools as of this day"),
                  .usual = N_("the last Monday"),
                  .text = &date },
                { .name = "json", .help = N_("answer in JSON"), .flag = &json },
        };
        const struct option_table table = {
                .program = "joulecast-community",
                .called = "joulecast-community pool",
                .usage = "joulecast-community pool FOLDER --output FOLDER [--edition DATE] [--json]",
                .about = N_("Makes power models of models, CPUs, panels and radios from profiles that devices\n"
                            "shared: FOLDER/NETWORK/CLIENT-profile.ini. Nothing is given out of fewer than\n"
                            "five devices from three networks, each of which has shared for a week."),
                .rows = rows,
                .n_rows = ARRAY_SIZE(rows),
                .words = words,
                .max_words = 1,
        };
        int64_t edition_s = fleet_edition(time(NULL));
        int code = options_read(&table, argc, argv, &program_log);

        if (code >= 0)
                return code;
        if (json)
                words_stop();
        if (!words[0] || !output) {
                log_error(&program_log, "pool: give FOLDER, and --output");
                return CODE_USAGE;
        }
        if (date && parse_date(date, &edition_s) < 0) {
                log_error(&program_log, "pool: --edition takes a day, as in 2026-11-23");
                return CODE_USAGE;
        }
        return fleet_write(words[0], output, edition_s, json, &program_log) < 0 ? CODE_FAILED : CODE_OK;
}
