/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "discharge.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "shared/upload.h"
#include "forecast/cost.h"
#include "util/tuning.h"
#include "util/units.h"
#include "util/util.h"

#define PPM_PER_PERCENT 1e4
#define MJ_PER_J 1e3
#define BRIGHTNESS_CLASSES 5
/* suspended part from which a span counts as suspended; the rest is the time awake before and after */
#define ASLEEP_PART 0.9
#define CLOCK_SET_NS (60 * (int64_t)NS_PER_S) /* a difference from which the clock was set */
#define KERNEL_APP "sys:kernel" /* kernel threads, which work for all apps */

/* Sums over the present span. */
struct reader {
        const struct discharge_wish *wish;
        struct discharge_list *list;
        struct store_poll last;      /* without rows */
        bool has_last, open;
        struct store_poll begin;     /* likewise: the reading that the span begins with */
        struct cost_maker *maker;
        uint64_t wifi_on_ns, other_bytes, screen_ns;
        double brightness_ns;        /* brightness times duration */
        uint32_t have;               /* fields that all its intervals have */
};

/* An app in a span, in the foreground and background. */
struct app_use {
        const char *app;
        uint64_t busy_ns, front_ns, held_ns;
        double mj; /* NaN: unknown */
        double parts_mj[COMPONENT_BASE];
};

void discharge_clear(struct discharge_list *list)
{
        for (size_t i = 0; i < list->n_names; i++)
                free(list->names[i]);
        free(list->names);
        free(list->apps);
        free(list->spans);
        *list = (struct discharge_list){ .n = 0 };
}

static int compare_uses(const void *a, const void *b)
{
        return strcmp(((const struct app_use *)a)->app, ((const struct app_use *)b)->app);
}

bool discharge_is_app(const char *app)
{
        return *app && strcmp(app, KERNEL_APP) != 0 && strcmp(app, TUNING_OTHER_APPS) != 0 &&
               strcmp(app, STORE_OTHERS) != 0;
}

static size_t merge_uses(struct app_use *uses, size_t n)
{
        size_t kept = 0;

        qsort(uses, n, sizeof(*uses), compare_uses);
        for (size_t i = 0; i < n; i++) {
                if (kept && strcmp(uses[kept - 1].app, uses[i].app) == 0) {
                        uses[kept - 1].busy_ns += uses[i].busy_ns;
                        uses[kept - 1].front_ns += uses[i].front_ns;
                        uses[kept - 1].held_ns += uses[i].held_ns;
                        uses[kept - 1].mj += uses[i].mj;
                        for (size_t c = 0; c < COMPONENT_BASE; c++)
                                uses[kept - 1].parts_mj[c] += uses[i].parts_mj[c];
                } else {
                        uses[kept++] = uses[i];
                }
        }
        return kept;
}

static bool in_use(const struct app_use *use, double span_ns)
{
        return (double)use->busy_ns >= DISCHARGE_CPU_FLOOR * span_ns ||
               (double)use->front_ns >= DISCHARGE_HELD_FLOOR * span_ns ||
               (double)use->held_ns >= DISCHARGE_HELD_FLOOR * span_ns;
}

/* Returns 1 with the name's index in @ret; 0: there are too many names; -ENOMEM. */
static int find_name(struct discharge_list *list, const char *app, uint32_t *ret)
{
        for (size_t i = 0; i < list->n_names; i++)
                if (strcmp(list->names[i], app) == 0) {
                        *ret = (uint32_t)i;
                        return 1;
                }
        if (list->n_names >= DISCHARGE_APPS_MAX)
                return 0;
        if (util_grow(&list->names, &list->names_capacity, list->n_names + 1, sizeof(*list->names)) < 0)
                return -ENOMEM;
        list->names[list->n_names] = strdup(app);
        if (!list->names[list->n_names])
                return -ENOMEM;
        *ret = (uint32_t)list->n_names++;
        return 1;
}

static int add_use(struct discharge_list *list, const struct app_use *use)
{
        uint32_t name;
        int rc = find_name(list, use->app, &name);

        if (rc <= 0)
                return rc;
        if (util_grow(&list->apps, &list->apps_capacity, list->n_apps + 1, sizeof(*list->apps)) < 0)
                return -ENOMEM;
        list->apps[list->n_apps] = (struct discharge_app){ .name = name, .own_mj = use->mj };
        memcpy(list->apps[list->n_apps++].parts_mj, use->parts_mj, sizeof(use->parts_mj));
        return 0;
}

static void set_use(const struct cost_app *app, struct app_use *ret)
{
        ret->app = app->app;
        ret->busy_ns = usage_busy_ns(&app->usage);
        ret->front_ns = app->state == STATE_FOREGROUND ? (uint64_t)(app->active_s * (double)NS_PER_S) : 0;
        ret->held_ns = app->usage.audio_on_ns + app->usage.camera_on_ns + app->usage.gps_on_ns;
        ret->mj = app->energy_j.value * MJ_PER_J;
        for (size_t c = 0; c < COMPONENT_BASE; c++)
                ret->parts_mj[c] = app->component_j[c] * MJ_PER_J;
}

static int add_apps(struct discharge_list *list, const struct cost *cost, double span_ns)
{
        _cleanup_free_ struct app_use *uses = calloc(cost->n_apps + 1, sizeof(*uses));
        size_t n = 0;
        int err = 0;

        if (!uses)
                return -ENOMEM;
        for (size_t i = 0; i < cost->n_apps; i++) {
                const struct cost_app *app = &cost->apps[i];

                if (discharge_is_app(app->app))
                        set_use(app, &uses[n++]);
        }
        n = merge_uses(uses, n);
        for (size_t i = 0; !err && i < n; i++)
                if (in_use(&uses[i], span_ns))
                        err = add_use(list, &uses[i]);
        return err;
}

static int brightness_class(const struct reader *reader, double span_ns)
{
        double part;

        if (!(reader->have & USAGE_DISPLAY))
                return -1;
        if ((double)reader->screen_ns < DISCHARGE_HELD_FLOOR * span_ns)
                return 0;
        if (reader->wish->max_brightness == 0)
                return -1;
        part = reader->brightness_ns / (double)reader->screen_ns / reader->wish->max_brightness;
        return 1 + (int)fmin(fmax(floor(part * BRIGHTNESS_CLASSES), 0), BRIGHTNESS_CLASSES - 1);
}

static enum discharge_network network_kind(const struct reader *reader, double span_ns)
{
        if ((reader->have & USAGE_WIFI) && (double)reader->wifi_on_ns > span_ns / 2)
                return NETWORK_WIFI;
        if ((reader->have & USAGE_OTHER_NET) && reader->other_bytes > 0)
                return NETWORK_OTHER;
        return reader->have & USAGE_WIFI ? NETWORK_NONE : NETWORK_UNKNOWN;
}

static int64_t whole_seconds(int64_t ns)
{
        return ns - ns % (int64_t)NS_PER_S;
}

static int32_t level_ppm(const struct battery *battery, uint32_t have)
{
        return (int32_t)lround(fmin(fmax(store_level_percent(battery, have), 0), 100) * PPM_PER_PERCENT);
}

static int keep_span(struct reader *reader, const struct store_poll *end)
{
        struct discharge_list *list = reader->list;
        uint32_t have = reader->begin.battery.have & end->battery.have;
        double span_ns = (double)(end->end_ns - reader->begin.end_ns);
        struct discharge span = {
                .t_ns = whole_seconds(reader->begin.end_ns), .t2_ns = whole_seconds(end->end_ns),
                .level_ppm = level_ppm(&reader->begin.battery, have), .level2_ppm = level_ppm(&end->battery, have),
                .brightness = brightness_class(reader, span_ns), .network = network_kind(reader, span_ns),
                              .first_app = list->n_apps,
        };
        struct cost *cost = NULL;
        int err;

        if (span.t2_ns <= span.t_ns || span.level2_ppm > span.level_ppm || span.t2_ns - span.t_ns > UPLOAD_SPAN_MAX_NS)
                return 0;
        err = cost_maker_finish(reader->maker, reader->wish->profile, NULL, &cost);
        if (!err)
                err = add_apps(list, cost, span_ns);
        cost_free(cost);
        if (!err)
                err = util_grow(&list->spans, &list->capacity, list->n + 1, sizeof(*list->spans));
        if (err)
                return err;
        span.n_apps = list->n_apps - span.first_app;
        list->spans[list->n++] = span;
        list->until_ns = end->end_ns;
        return 0;
}

/* Adds a span from the last reading before a suspend to the first one after it. */
static int keep_asleep(struct reader *reader, const struct store_poll *end)
{
        struct discharge_list *list = reader->list;
        uint32_t have = reader->last.battery.have & end->battery.have;
        struct discharge span = {
                .t_ns = whole_seconds(reader->last.end_ns), .t2_ns = whole_seconds(end->end_ns),
                .level_ppm = level_ppm(&reader->last.battery, have), .level2_ppm = level_ppm(&end->battery, have),
                .brightness = -1, .network = NETWORK_UNKNOWN, .asleep = true, .first_app = list->n_apps,
        };
        int64_t set_ns = span.t2_ns - span.t_ns - (int64_t)MIN(end->elapsed_ns, (uint64_t)INT64_MAX / 2);

        if (span.t2_ns <= span.t_ns || span.level2_ppm > span.level_ppm ||
            span.t2_ns - span.t_ns > UPLOAD_ASLEEP_MAX_NS || set_ns > CLOCK_SET_NS || set_ns < -CLOCK_SET_NS)
                return 0;
        if (util_grow(&list->spans, &list->capacity, list->n + 1, sizeof(*list->spans)) < 0)
                return -ENOMEM;
        list->spans[list->n++] = span;
        list->until_ns = end->end_ns;
        return 0;
}

static int open_span(struct reader *reader, const struct store_poll *at)
{
        cost_maker_free(reader->maker);
        reader->maker = NULL;
        reader->begin = *at;
        reader->begin.rows = NULL;
        reader->wifi_on_ns = reader->other_bytes = reader->screen_ns = 0;
        reader->brightness_ns = 0;
        reader->have = USAGE_ALL;
        reader->open = true;
        return cost_maker_new(&reader->maker);
}

static int sum_rows(struct reader *reader, const struct store_poll *poll)
{
        int err = 0;

        for (size_t i = 0; !err && i < poll->n_rows; i++) {
                const struct store_row *row = &poll->rows[i];

                err = cost_maker_add(reader->maker, row);
                reader->other_bytes += row->usage->other_rx_bytes + row->usage->other_tx_bytes;
                for (size_t j = 0; j < row->usage->screen.n; j++) {
                        reader->screen_ns += row->usage->screen.list[j].on_ns;
                        reader->brightness_ns += (double)row->usage->screen.list[j].on_ns *
                                                 row->usage->screen.list[j].brightness;
                }
                if (!*row->app) {
                        reader->wifi_on_ns += row->usage->wifi_on_ns;
                        reader->have &= row->usage->have;
                }
        }
        return err;
}

static bool is_discharging(const struct store_poll *poll)
{
        return poll->battery.status == BATTERY_DISCHARGING &&
               !isnan(store_level_percent(&poll->battery, poll->battery.have));
}

static bool has_moved(const struct store_poll *before, const struct store_poll *poll)
{
        uint32_t have = before->battery.have & poll->battery.have;

        return store_level_percent(&poll->battery, have) < store_level_percent(&before->battery, have);
}

static bool is_asleep(const struct store_poll *poll)
{
        return poll->suspend_ns >= TUNING_SLEEP_NS &&
               (double)poll->suspend_ns >= ASLEEP_PART * (double)poll->elapsed_ns;
}

static int take_poll(void *data, const struct store_poll *poll)
{
        struct reader *reader = data;
        bool fine = is_discharging(poll), awake = poll->suspend_ns < TUNING_SUSPEND_NS;
        bool first = !reader->has_last && poll->end_ns == reader->wish->from_ns && awake;
        bool follows = fine && reader->has_last && is_discharging(&reader->last) && store_goes_on(&reader->last, poll);
        bool goes_on = follows && awake;
        int err = 0;

        if (!goes_on)
                reader->open = false;
        if (follows && is_asleep(poll))
                err = keep_asleep(reader, poll);
        if (reader->open)
                err = sum_rows(reader, poll);
        if (!err && goes_on && has_moved(&reader->last, poll)) {
                bool enough = reader->open && poll->end_ns - reader->begin.end_ns >= reader->wish->length_ns;

                if (enough)
                        err = keep_span(reader, poll);
                if (!err && (enough || !reader->open))
                        err = open_span(reader, poll);
        } else if (!err && first && fine) {
                err = open_span(reader, poll); /* the previous span ended here, so the level changed */
        }
        reader->last = *poll;
        reader->last.rows = NULL;
        reader->has_last = true;
        return err;
}

int discharge_read(struct store *store, const struct discharge_wish *wish, struct discharge_list *ret)
{
        struct reader reader = { .wish = wish, .list = ret };
        int err;

        *ret = (struct discharge_list){ .n = 0 };
        err = store_polls(store, wish->from_ns == INT64_MIN ? INT64_MIN : wish->from_ns - 1, wish->to_ns, take_poll,
                          &reader);
        cost_maker_free(reader.maker);
        return err;
}
