/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compose.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "discharge.h"
#include "traits.h"
#include "source/display.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"
#include "versions.h"

#define MINUTE_NS (60 * (int64_t)NS_PER_S)
#define NAME_LENGTH_MAX 64
/* Limits for energy by component, since small parts say little and cost bytes. */
#define PARTS_APP_MIN 0.05  /* least share of an app in the energy of all apps in use */
#define PARTS_PART_MIN 0.1  /* least share of a component in the app's energy */

/*
 * Tried in turn until the upload is small enough: components in fewer samples, longer spans, and only the
 * most frequent apps. A background app does much the same all day, so a few samples with components show most
 * of it.
 */
static const struct step {
        int64_t length_ns;
        size_t apps;
        size_t parts_every; /* one of so many samples has components */
} steps[] = {
        { 10 * MINUTE_NS, DISCHARGE_APPS_MAX, 1 }, { 10 * MINUTE_NS, DISCHARGE_APPS_MAX, 4 },
        { 10 * MINUTE_NS, DISCHARGE_APPS_MAX, 8 }, { 10 * MINUTE_NS, 60, 8 },
        { 20 * MINUTE_NS, 60, 8 }, { 40 * MINUTE_NS, 40, 8 }, { 80 * MINUTE_NS, 20, 8 }, { 160 * MINUTE_NS, 10, 8 },
};

/* An app of the upload. */
struct entry {
        const char *app;
        char hash[NAME_HASH_SIZE];
        bool named;                          /* it is sent by name */
        char version[VERSION_SIZE];  /* only for named apps */
        size_t uses;                         /* number of spans in which it was in use */
        size_t id;                           /* 1 is the most frequent; 0: left out */
};

struct writer {
        const struct compose_source *source;
        const struct discharge_list *list;
        struct traits traits;
        struct entry *entries;               /* parallel to the list's names */
        const struct step *step;
        FILE *file;
        int64_t seq;
};

void compose_clear(struct compose_upload *upload)
{
        free(upload->text);
        free(upload->packed);
        *upload = (struct compose_upload){ .n = 0 };
}

static int compare_entries(const void *a, const void *b)
{
        const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;

        return x->uses != y->uses ? (x->uses < y->uses ? 1 : -1) : strcmp(x->hash, y->hash);
}

static int rank(struct writer *writer, size_t apps)
{
        size_t n = writer->list->n_names;
        _cleanup_free_ struct entry **order = calloc(n + 1, sizeof(struct entry *));

        if (!order)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                order[i] = &writer->entries[i];
        qsort(order, n, sizeof(struct entry *), compare_entries);
        for (size_t i = 0; i < n; i++)
                order[i]->id = i < apps ? i + 1 : 0;
        return 0;
}

/*
 * Is the name only that of a program? Others, such as those of containers or with a space, are always sent as
 * hashes.
 */
static bool is_plain(const char *app)
{
        char plain[NAME_LENGTH_MAX + 1];

        return strlen(app) <= NAME_LENGTH_MAX && !strpbrk(app, " :/()~") &&
               strcmp(traits_plain(app, plain, sizeof(plain)), app) == 0;
}

static int find_versions(struct writer *writer)
{
        size_t n = 0, names = writer->list->n_names;
        _cleanup_free_ struct entry **named = calloc(names + 1, sizeof(struct entry *));
        _cleanup_free_ const char **apps = calloc(names + 1, sizeof(char *));
        _cleanup_free_ char(*versions)[VERSION_SIZE] = calloc(names + 1, sizeof(*versions));
        int err;

        if (!named || !apps || !versions)
                return -ENOMEM;
        for (size_t i = 0; i < names; i++) {
                if (!writer->entries[i].named)
                        continue;
                apps[n] = writer->entries[i].app;
                named[n++] = &writer->entries[i];
        }
        err = versions_of_apps(writer->source->root_fd, apps, n, versions);
        for (size_t i = 0; !err && i < n; i++)
                memcpy(named[i]->version, versions[i], sizeof(versions[i]));
        return err;
}

static int make_entries(struct writer *writer)
{
        const struct discharge_list *list = writer->list;

        writer->entries = calloc(list->n_names + 1, sizeof(*writer->entries));
        if (!writer->entries)
                return -ENOMEM;
        for (size_t i = 0; i < list->n_names; i++) {
                struct entry *entry = &writer->entries[i];

                entry->app = list->names[i];
                name_hash_of(entry->app, entry->hash);
                entry->named = is_plain(entry->app) && member_may_name(writer->source->member, entry->hash);
        }
        for (size_t i = 0; i < list->n_apps; i++)
                writer->entries[list->apps[i].name].uses++;
        return find_versions(writer);
}

/* Spans with the same features have one header. */
static bool same_kind(const struct discharge *a, const struct discharge *b)
{
        return a->brightness == b->brightness && a->network == b->network && a->external == b->external &&
               a->refresh_hz == b->refresh_hz && strcmp(a->profile, b->profile) == 0;
}

static void write_feature(struct writer *writer, const char *key, const char *value, const char **comma)
{
        if (*value)
                fprintf(writer->file, "%s\"%s\":\"%s\"", *comma, key, value);
        if (*value)
                *comma = ",";
}

static void write_features(struct writer *writer, const struct discharge *kind)
{
        static const char *const networks[] = { "", "none", "wifi", "other" };
        static const char *const fifths[] = { "off", "0-20", "20-40", "40-60", "60-80", "80-100" };
        const struct traits *traits = &writer->traits;
        const char *comma = "";
        char refresh[16] = "";

        if (kind->refresh_hz)
                snprintf(refresh, sizeof(refresh), "%d", kind->refresh_hz);
        fputs(",\"features\":{", writer->file);
        write_feature(writer, "kernel", traits->kernel, &comma);
        write_feature(writer, "mesa", traits->mesa, &comma);
        write_feature(writer, "firmware", traits->firmware, &comma);
        write_feature(writer, "battery_wear", traits->wear, &comma);
        write_feature(writer, "power_model", traits->power_model, &comma);
        write_feature(writer, "power_profile", kind->profile, &comma);
        write_feature(writer, "external_screen", kind->external < 0 ? "" : kind->external ? "yes" : "no", &comma);
        write_feature(writer, "refresh", refresh, &comma);
        write_feature(writer, "brightness", kind->brightness >= 0 ? fifths[kind->brightness] : "", &comma);
        write_feature(writer, "network", networks[kind->network], &comma);
        fputc('}', writer->file);
}

/* Is the app in use in a span with these features? */
static bool is_in(const struct writer *writer, size_t name, const struct discharge *kind)
{
        const struct discharge_list *list = writer->list;

        for (size_t i = 0; i < list->n; i++)
                for (size_t j = 0; same_kind(&list->spans[i], kind) && j < list->spans[i].n_apps; j++)
                        if (list->apps[list->spans[i].first_app + j].name == name)
                                return true;
        return false;
}

static void write_versions(struct writer *writer, const struct discharge *kind)
{
        const char *before = ",\"versions\":{";

        for (size_t i = 0; i < writer->list->n_names; i++) {
                const struct entry *entry = &writer->entries[i];

                if (entry->id == 0 || !*entry->version || !is_in(writer, i, kind))
                        continue;
                fprintf(writer->file, "%s\"%zu\":\"%s\"", before, entry->id, entry->version);
                before = ",";
        }
        if (*before == ',' && !before[1])
                fputc('}', writer->file);
}

static void write_header(struct writer *writer, const struct discharge *kind)
{
        const char *comma = "";

        fprintf(writer->file, "{\"v\":1,\"client\":\"%s\",\"first\":%" PRId64, writer->source->member->client,
                writer->seq);
        if (*writer->traits.os)
                fprintf(writer->file, ",\"os\":\"%s\"", writer->traits.os);
        if (*writer->traits.model)
                fprintf(writer->file, ",\"model\":\"%s\"", writer->traits.model);
        write_features(writer, kind);
        fputs(",\"apps\":{", writer->file);
        for (size_t i = 0; i < writer->list->n_names; i++) {
                const struct entry *entry = &writer->entries[i];

                if (entry->id == 0 || !is_in(writer, i, kind))
                        continue;
                fprintf(writer->file, "%s\"%zu\":\"%s\"", comma, entry->id, entry->named ? entry->app : entry->hash);
                comma = ",";
        }
        fputc('}', writer->file);
        write_versions(writer, kind);
        fputs("}\n", writer->file);
}

/*
 * Rounds to twelve steps per decade, as resistors have: at most 10 % off, and half the bytes of two digits.
 */
static int64_t rounded(double value)
{
        static const double steps_of_ten[] = { 1, 1.2, 1.5, 1.8, 2.2, 2.7, 3.3, 3.9, 4.7, 5.6, 6.8, 8.2, 10 };
        double ten = value >= 1 ? pow(10, floor(log10(value))) : 0, best = 0;

        for (size_t i = 0; ten > 0 && i < ARRAY_SIZE(steps_of_ten); i++)
                if (fabs(steps_of_ten[i] * ten - value) < fabs(best - value))
                        best = steps_of_ten[i] * ten;
        return (int64_t)llround(best);
}

/* An app of a span, and its ID in the upload. */
struct used {
        const struct discharge_app *app;
        size_t id;
};

static int compare_used(const void *a, const void *b)
{
        const struct used *x = a, *y = b;

        return x->id < y->id ? -1 : x->id > y->id;
}

/* Sorted by ID, so that apps that are always in use give equal text in each line, which compresses well. */
static size_t list_used(const struct writer *writer, const struct discharge *span, struct used *used)
{
        size_t n = 0;

        for (size_t i = 0; i < span->n_apps; i++) {
                const struct discharge_app *app = &writer->list->apps[span->first_app + i];

                if (writer->entries[app->name].id > 0)
                        used[n++] = (struct used){ app, writer->entries[app->name].id };
        }
        qsort(used, n, sizeof(*used), compare_used);
        return n;
}

static void write_own(struct writer *writer, const struct used *used, size_t n)
{
        const char *before = ",\"own_mj\":{";
        bool any = false;

        for (size_t i = 0; i < n; i++) {
                if (isnan(used[i].app->own_mj))
                        continue;
                fprintf(writer->file, "%s\"%zu\":%" PRId64, any ? "," : before, used[i].id,
                        rounded(used[i].app->own_mj));
                any = true;
        }
        if (any)
                fputc('}', writer->file);
}

static void write_parts_of(struct writer *writer, const struct used *used, bool *any)
{
        bool first = true;

        for (size_t c = 0; c < COMPONENT_BASE; c++) {
                double part = used->app->parts_mj[c];

                if (!(part >= PARTS_PART_MIN * used->app->own_mj) || rounded(part) == 0)
                        continue;
                if (first)
                        fprintf(writer->file, "%s\"%zu\":{", *any ? "," : ",\"parts_mj\":{", used->id);
                fprintf(writer->file, "%s\"%s\":%" PRId64, first ? "" : ",", component_names[c], rounded(part));
                first = false;
        }
        if (!first)
                fputc('}', writer->file);
        *any = *any || !first;
}

static void write_parts(struct writer *writer, const struct used *used, size_t n)
{
        double all = 0;
        bool any = false;

        for (size_t i = 0; i < n; i++)
                all += isnan(used[i].app->own_mj) ? 0 : used[i].app->own_mj;
        for (size_t i = 0; i < n; i++)
                if (used[i].app->own_mj >= PARTS_APP_MIN * all)
                        write_parts_of(writer, &used[i], &any);
        if (any)
                fputc('}', writer->file);
}

static void write_sample(struct writer *writer, const struct discharge *span)
{
        struct used used[DISCHARGE_APPS_MAX];
        size_t n = list_used(writer, span, used);

        fprintf(writer->file, "{\"t\":%" PRId64 ",\"t2\":%" PRId64 ",\"level_ppm\":%" PRId32 ",\"level2_ppm\":%" PRId32,
                span->t_ns, span->t2_ns, span->level_ppm, span->level2_ppm);
        writer->seq++;
        if (span->asleep) { /* without "apps", so that a server that does not know "asleep" ignores the line */
                fputs(",\"asleep\":true}\n", writer->file);
                return;
        }
        fputs(",\"apps\":[", writer->file);
        for (size_t i = 0; i < n; i++)
                fprintf(writer->file, "%s%zu", i ? "," : "", used[i].id);
        fputc(']', writer->file);
        write_own(writer, used, n);
        if ((writer->seq - writer->source->member->next) % (int64_t)writer->step->parts_every == 0)
                write_parts(writer, used, n);
        fputs("}\n", writer->file);
}

static void write_all(struct writer *writer)
{
        const struct discharge_list *list = writer->list;

        writer->seq = writer->source->member->next;
        for (size_t i = 0; i < list->n; i++) {
                bool first = true;

                for (size_t j = 0; first && j < i; j++)
                        first = !same_kind(&list->spans[i], &list->spans[j]);
                if (first)
                        write_header(writer, &list->spans[i]);
                for (size_t j = i; first && j < list->n; j++)
                        if (same_kind(&list->spans[i], &list->spans[j]))
                                write_sample(writer, &list->spans[j]);
        }
}

static int write_text(struct writer *writer, struct compose_upload *ret)
{
        struct text_kept kept = { .text = NULL };

        writer->file = text_open(&kept);
        if (!writer->file)
                return -ENOMEM;
        write_all(writer);
        ret->text = text_close(writer->file, &kept);
        if (!ret->text)
                return -ENOMEM;
        ret->length = strlen(ret->text);
        return 0;
}

/* The header has no time and no name, so that equal texts give equal bytes. */
static int pack(struct compose_upload *upload)
{
        z_stream stream = { .next_in = (Bytef *)upload->text, .avail_in = (uInt)upload->length };
        size_t room;
        int code;

        if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, MAX_MEM_LEVEL,
                         Z_DEFAULT_STRATEGY) != Z_OK)
                return -ENOMEM;
        room = deflateBound(&stream, upload->length);
        upload->packed = malloc(room);
        stream.next_out = upload->packed;
        stream.avail_out = (uInt)room;
        code = upload->packed ? deflate(&stream, Z_FINISH) : Z_MEM_ERROR;
        upload->packed_length = stream.total_out;
        deflateEnd(&stream);
        return code == Z_STREAM_END ? 0 : -ENOMEM;
}

static int compose_step(struct writer *writer, struct compose_upload *ret)
{
        const struct discharge_list *list = writer->list;
        struct compose_upload upload = { .n = list->n, .from_ns = list->spans[0].t_ns, .until_ns = list->until_ns };
        int err = rank(writer, writer->step->apps);

        for (size_t i = 0; i < list->n; i++)
                upload.awake += !list->spans[i].asleep;
        if (!err)
                err = write_text(writer, &upload);
        if (!err)
                err = pack(&upload);
        if (err)
                compose_clear(&upload);
        else
                *ret = upload;
        return err;
}

static bool is_small(const struct compose_source *source, const struct compose_upload *upload)
{
        int64_t from_ns = source->member->from_ns == INT64_MIN ? upload->from_ns : source->member->from_ns;
        double seconds = (double)(upload->until_ns - from_ns) / (double)NS_PER_S;

        return (double)upload->packed_length <= fmax(COMPOSE_BYTES_MIN, COMPOSE_BYTES_PER_S * seconds);
}

static int compose_of_length(const struct compose_source *source, const struct traits *traits, const struct step *step,
                             uint32_t max_brightness, struct compose_upload *ret)
{
        const struct discharge_wish wish = { .profile = source->profile, .from_ns = source->member->from_ns,
                                             .to_ns = source->now_ns,
                                             .length_ns = step->length_ns, .max_brightness = max_brightness };
        _cleanup_(discharge_clear) struct discharge_list list = { .n = 0 };
        struct writer writer = { .source = source, .list = &list, .traits = *traits, .step = step };
        int err = discharge_read(source->store, &wish, &list);

        if (!err && list.n == 0)
                err = -ENODATA;
        for (size_t i = 0; i < list.n; i++) {
                struct discharge *span = &list.spans[i];
                const struct setting *setting = span->asleep ? NULL : member_find_setting(source->member, span->t2_ns);

                span->profile = setting ? setting->profile : "";
                span->external = setting ? setting->external : -1;
                span->refresh_hz = setting ? setting->refresh_hz : 0;
        }
        if (!err)
                err = make_entries(&writer);
        if (!err)
                err = compose_step(&writer, ret);
        free(writer.entries);
        return err;
}

int compose_upload(const struct compose_source *source, struct compose_upload *ret)
{
        struct compose_upload upload = { .n = 0 };
        struct display_state display = { .max_brightness = 0 };
        struct traits traits;

        traits_read(source->root_fd, source->profile, &traits);
        if (source->root_fd >= 0 && display_look(source->root_fd, &display) < 0)
                display.max_brightness = 0;
        for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
                struct compose_upload longer = { .n = 0 };
                int err = compose_of_length(source, &traits, &steps[i], display.max_brightness, &longer);

                if (upload.n > 0 && (err == -ENODATA || (!err && upload.awake > 0 && longer.awake == 0))) {
                        compose_clear(&longer);
                        break; /* longer spans have no data; the previous result is the smallest */
                }
                if (err) {
                        compose_clear(&upload);
                        return err;
                }
                compose_clear(&upload);
                upload = longer;
                if (is_small(source, &upload))
                        break;
        }
        *ret = upload;
        return 0;
}
