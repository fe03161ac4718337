/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "scenario-packets.h"
#include "scenario.h"
#include "util/ini-text.h"
#include "util/offer.h"
#include "util/units.h"
#include "util/util.h"

#define TEXT_MAX (4u << 20)
#define SEGMENTS_MAX 10000
#define POLICIES_MAX ARRAY_SIZE(((struct virtual_work *)NULL)->policy_khz)
#define CPUS_MAX ARRAY_SIZE(((struct virtual_work *)NULL)->utilisation)
#define MB_PER_S_MAX 1e4
#define PACKET_BYTES 1500 /* default size */
#define LONGEST_S 31622400.0 /* a leap year, since virtual time takes real time, too */

/* Keys seen so far in the segment being read, to find duplicates and missing ones. */
enum segment_key {
        KEY_APP,
        KEY_STATE,
        KEY_START,
        KEY_LENGTH,
        KEY_READ,
        KEY_WRITE,
        KEY_RX,
        KEY_TX,
        KEY_WAKES,
        KEY_GPU,
        KEY_CPU_FACTOR,
        KEY_IPC,
        KEY_MPK,
        KEY_CONTENT,
        KEY_UNSEEN,
        KEY_PACKETS,
        KEY_PACKET_BYTES, /* keys from here to KEY_BURST require packets */
        KEY_PATTERN,
        KEY_BURST,
        KEY_RADIO,
        KEY_GPS,
        KEY_AUDIO,
        KEY_CAMERA,
        KEY_COUNT
};

static const char *const segment_keys[KEY_COUNT] = {
        [KEY_APP] = "app",
        [KEY_STATE] = "state",
        [KEY_START] = "start_s",
        [KEY_LENGTH] = "length_s",
        [KEY_READ] = "read_mb_per_s",
        [KEY_WRITE] = "write_mb_per_s",
        [KEY_RX] = "rx_mb_per_s",
        [KEY_TX] = "tx_mb_per_s",
        [KEY_WAKES] = "wakes_per_s",
        [KEY_GPU] = "gpu",
        [KEY_CPU_FACTOR] = "cpu_factor",
        [KEY_IPC] = "instructions_per_cycle",
        [KEY_MPK] = "misses_per_kinstruction",
        [KEY_CONTENT] = "content",
        [KEY_UNSEEN] = "unseen_mw",
        [KEY_PACKETS] = "packets_per_s",
        [KEY_PACKET_BYTES] = "packet_bytes",
        [KEY_PATTERN] = "pattern",
        [KEY_BURST] = "burst_packets",
        [KEY_RADIO] = "radio",
        [KEY_GPS] = "gps",
        [KEY_AUDIO] = "audio",
        [KEY_CAMERA] = "camera",
};

struct reading {
        struct scenario_segment segment;
        double start_s, length_s;
        bool said[KEY_COUNT];
        bool said_khz[POLICIES_MAX], said_cores[POLICIES_MAX]; /* by index of the policy */
        bool said_threads, said_share; /* `threads`, and `khz` in percent, which are for any device */
};

struct parser {
        const struct profile *truth;
        struct scenario *scenario;
        struct reading *readings;
        size_t n_readings;
        size_t capacity;
        bool said_brightness, said_wifi;
};

static uint32_t policy_cpus(const struct profile_policy *policy)
{
        return policy->n_cpus ? policy->n_cpus : 1;
}

/*
 * "khz" is policy 0, "khz.4" policy 4. Returns the index of the policy in the profile; @first: index of its
 * first CPU.
 */
static int find_policy(const struct parser *parser, const struct ini_place *place, const char *key,
                       size_t *first)
{
        const char *dot = strchr(key, '.');
        uint64_t number = 0;

        if (dot && util_parse_u64(dot + 1, &number) < 0)
                return ini_error(place, "%.60s: the part after the dot is the number of a policy", key);
        *first = 0;
        for (size_t i = 0; i < MIN(parser->truth->n_policies, POLICIES_MAX); i++) {
                *first += policy_cpus(&parser->truth->policies[i]);
                if (*first > CPUS_MAX)
                        break;
                if (parser->truth->policies[i].policy != number)
                        continue;
                *first -= policy_cpus(&parser->truth->policies[i]);
                return (int)i;
        }
        return ini_error(place, "%.60s: the device %s has no policy %llu", key, parser->truth->device,
                         (unsigned long long)number);
}

static bool has_khz(const struct profile *truth, uint32_t policy, uint32_t khz)
{
        policy = profile_as(truth, policy);
        return profile_find(truth, TERM_CPU_ACTIVE, policy, khz, "") >= 0 ||
               profile_find(truth, TERM_CPU_SHARED, policy, khz, "") >= 0 ||
               profile_find(truth, TERM_CPU_IDLE, policy, khz, "") >= 0;
}

static int said_twice(const struct ini_place *place, const char *key)
{
        return ini_error(place, "%.60s is here for the second time", key);
}

/*
 * Parses "70 %", which makes a scenario fit any device, to a fraction. Returns false if it is no percentage.
 */
static bool take_percent(const char *value, double *ret)
{
        size_t length = strlen(value);
        char number[16];
        double percent;

        if (length < 2 || length > sizeof(number) || value[length - 1] != '%')
                return false;
        length--;
        while (length > 0 && value[length - 1] == ' ')
                length--;
        memcpy(number, value, length);
        number[length] = '\0';
        if (util_parse_double(number, &percent) < 0 || !(percent >= 0 && percent <= 100))
                return false;
        *ret = percent / 100;
        return true;
}

/* The frequency nearest to @part of the policy's highest one; 0: it has none. */
static uint32_t nearest_khz(const struct profile *truth, uint32_t policy, double part)
{
        uint32_t highest = 0, nearest = 0;

        policy = profile_as(truth, policy);
        for (size_t pass = 0; pass < 2; pass++) {
                for (size_t i = 0; i < truth->n_coefficients; i++) {
                        const struct coefficient *c = &truth->coefficients[i];

                        if (c->term != TERM_CPU_ACTIVE || c->policy != policy)
                                continue;
                        if (pass == 0)
                                highest = MAX(highest, c->point);
                        else if (!nearest || fabs(c->point - part * highest) < fabs(nearest - part * highest))
                                nearest = c->point;
                }
        }
        return nearest;
}

/* Sets all policies without a frequency of their own in this segment. */
static int parse_share(struct parser *parser, const struct ini_place *place, struct reading *reading, double part)
{
        if (reading->said_share)
                return said_twice(place, "khz");
        reading->said_share = true;
        for (size_t i = 0; i < MIN(parser->truth->n_policies, POLICIES_MAX); i++)
                if (!reading->said_khz[i])
                        reading->segment.work.policy_khz[i] =
                                nearest_khz(parser->truth, parser->truth->policies[i].policy, part);
        return 0;
}

/*
 * Each thread has its own CPU as long as there are any; the others share the last one, which is at most fully
 * busy.
 */
static int parse_threads(struct parser *parser, const struct ini_place *place, struct reading *reading,
                         const char *value)
{
        double *utilisation = reading->segment.work.utilisation, busy;
        char word[INI_LINE_MAX], *rest = word, *at;
        size_t n_cpus = 0, n = 0;

        if (reading->said_threads)
                return said_twice(place, "threads");
        reading->said_threads = true;
        for (size_t i = 0; i < MIN(parser->truth->n_policies, POLICIES_MAX); i++)
                n_cpus += policy_cpus(&parser->truth->policies[i]);
        n_cpus = MIN(n_cpus, CPUS_MAX);
        snprintf(word, sizeof(word), "%s", value);
        while (n_cpus > 0 && (at = strsep(&rest, " \t"))) {
                size_t cpu = MIN(n, n_cpus - 1);
                int err;

                if (!*at)
                        continue;
                err = ini_number(place, "threads", at, 0, 1, &busy);
                if (err < 0)
                        return err;
                utilisation[cpu] = fmin(utilisation[cpu] + busy, 1);
                n++;
        }
        return n > 0 || n_cpus == 0 ? 0 : ini_error(place, "threads has no value");
}

static int parse_khz(struct parser *parser, const struct ini_place *place, struct reading *reading,
                     const char *key, const char *value)
{
        size_t first;
        uint64_t khz;
        double part;
        int policy;

        if (strcmp(key, "khz") == 0 && take_percent(value, &part))
                return parse_share(parser, place, reading, part);
        policy = find_policy(parser, place, key, &first);
        if (policy < 0)
                return policy;
        if (reading->said_khz[policy])
                return said_twice(place, key);
        reading->said_khz[policy] = true;
        if (util_parse_u64(value, &khz) < 0 || khz > UINT32_MAX)
                return ini_error(place, "%s = %.60s is no frequency in kHz", key, value);
        if (!has_khz(parser->truth, parser->truth->policies[policy].policy, (uint32_t)khz))
                return ini_error(place, "%s = %llu: the device %s has no such frequency", key,
                                 (unsigned long long)khz, parser->truth->device);
        reading->segment.work.policy_khz[policy] = (uint32_t)khz;
        return 0;
}

static int parse_cores(struct parser *parser, const struct ini_place *place, struct reading *reading,
                       const char *key, const char *value)
{
        char word[INI_LINE_MAX], *rest = word, *at;
        size_t first, n = 0;
        int policy = find_policy(parser, place, key, &first);

        if (policy < 0)
                return policy;
        if (reading->said_cores[policy])
                return said_twice(place, key);
        reading->said_cores[policy] = true;
        snprintf(word, sizeof(word), "%s", value);
        while ((at = strsep(&rest, " \t"))) {
                int err;

                if (!*at)
                        continue;
                if (n == policy_cpus(&parser->truth->policies[policy]))
                        return ini_error(place, "%s: the policy has only %zu core%s", key, n, n == 1 ? "" : "s");
                err = ini_number(place, key, at, 0, 1, &reading->segment.work.utilisation[first + n++]);
                if (err < 0)
                        return err;
        }
        return n > 0 ? 0 : ini_error(place, "%s has no value", key);
}

static int parse_app(const struct ini_place *place, struct reading *reading, const char *value)
{
        char *app = reading->segment.work.app;

        util_printable(value, app, sizeof(reading->segment.work.app));
        if (*app == '\0' || strcmp(app, value) != 0)
                return ini_error(place, "app must be 1 to %d bytes of printable UTF-8", APP_ID_MAX - 1);
        return 0;
}

static int parse_state(const struct ini_place *place, struct reading *reading, const char *value)
{
        reading->segment.work.foreground = strcmp(value, "foreground") == 0;
        if (!reading->segment.work.foreground && strcmp(value, "background") != 0)
                return ini_error(place, "state = %.60s is unknown; it may be foreground or background", value);
        return 0;
}

static int parse_segment_key(const struct ini_place *place, struct reading *reading, enum segment_key which,
                             const char *value)
{
        struct virtual_work *work = &reading->segment.work;
        const char *key = segment_keys[which];

        switch (which) {
        case KEY_APP:
                return parse_app(place, reading, value);
        case KEY_STATE:
                return parse_state(place, reading, value);
        case KEY_START:
                return ini_number(place, key, value, 0, LONGEST_S, &reading->start_s);
        case KEY_LENGTH:
                return ini_number(place, key, value, 1e-3, LONGEST_S, &reading->length_s);
        case KEY_READ:
                return ini_number(place, key, value, 0, MB_PER_S_MAX, &work->read_mb_per_s);
        case KEY_WRITE:
                return ini_number(place, key, value, 0, MB_PER_S_MAX, &work->write_mb_per_s);
        case KEY_RX:
                return ini_number(place, key, value, 0, MB_PER_S_MAX, &work->rx_mb_per_s);
        case KEY_TX:
                return ini_number(place, key, value, 0, MB_PER_S_MAX, &work->tx_mb_per_s);
        case KEY_WAKES: /* each app needs a second of silence before a burst */
                return ini_number(place, key, value, 0, 1e3, &work->wakes_per_s);
        case KEY_CPU_FACTOR:
                return ini_number(place, key, value, 0.01, VIRTUAL_CPU_FACTOR_MAX, &work->cpu_factor);
        case KEY_IPC:
                return ini_number(place, key, value, 0.001, VIRTUAL_IPC_MAX, &work->instructions_per_cycle);
        case KEY_MPK:
                return ini_number(place, key, value, 0, VIRTUAL_MPK_MAX, &work->misses_per_kinstruction);
        case KEY_CONTENT:
                return ini_number(place, key, value, 0, 1, &reading->segment.content);
        case KEY_UNSEEN:
                return ini_number(place, key, value, 0, VIRTUAL_UNSEEN_MAX_MW, &work->unseen_mw);
        case KEY_GPU:
                return ini_number(place, key, value, 0, 1, &work->gpu);
        default:
                return scenario_parse_packets(place, key, value, work);
        }
}

static bool is_key(const char *key, const char *name)
{
        size_t length = strlen(name);

        return strncmp(key, name, length) == 0 && (key[length] == '\0' || key[length] == '.');
}

static int parse_segment(struct parser *parser, const struct ini_place *place, struct reading *reading,
                         const char *key, const char *value)
{
        if (is_key(key, "khz"))
                return parse_khz(parser, place, reading, key, value);
        if (is_key(key, "cores"))
                return parse_cores(parser, place, reading, key, value);
        if (strcmp(key, "threads") == 0)
                return parse_threads(parser, place, reading, value);
        for (unsigned i = 0; i < KEY_COUNT; i++) {
                if (strcmp(key, segment_keys[i]) != 0)
                        continue;
                if (reading->said[i])
                        return said_twice(place, key);
                reading->said[i] = true;
                return parse_segment_key(place, reading, i, value);
        }
        return ini_error(place, "%.60s is no key of a [segment N]", key);
}

static int parse_brightness(struct parser *parser, const struct ini_place *place, const char *value)
{
        uint32_t max = parser->truth->max_brightness ? parser->truth->max_brightness : UINT32_MAX - 1;
        uint64_t brightness;
        double part;

        if (parser->truth->max_brightness && take_percent(value, &part)) {
                parser->scenario->brightness = (uint32_t)(part * max);
                return 0;
        }
        if (util_parse_u64(value, &brightness) < 0 || brightness > max)
                return ini_error(place, "brightness = %.60s is not in 0..%u, what the device %s has", value,
                                 max, parser->truth->device);
        parser->scenario->brightness = (uint32_t)brightness;
        return 0;
}

static int parse_scenario(struct parser *parser, const struct ini_place *place, const char *key,
                          const char *value)
{
        bool *said = strcmp(key, "brightness") == 0 ? &parser->said_brightness
                     : strcmp(key, "wifi") == 0     ? &parser->said_wifi
                                                    : NULL;

        if (!said)
                return ini_error(place, "%.60s is no key of [scenario]", key);
        if (*said)
                return said_twice(place, key);
        *said = true;
        if (said == &parser->said_brightness)
                return parse_brightness(parser, place, value);
        parser->scenario->wifi = strcmp(value, "on") == 0;
        if (!parser->scenario->wifi && strcmp(value, "off") != 0)
                return ini_error(place, "wifi = %.60s is unknown; it may be on or off", value);
        return 0;
}

/* Finds the segment with this number, which is nearly always the last. */
static struct reading *find_reading(struct parser *parser, const struct ini_place *place, unsigned number)
{
        struct reading *reading;

        for (size_t i = parser->n_readings; i-- > 0;)
                if (parser->readings[i].segment.number == number)
                        return &parser->readings[i];
        if (parser->n_readings == SEGMENTS_MAX ||
            util_grow(&parser->readings, &parser->capacity, parser->n_readings + 1, sizeof(*reading)) < 0)
                return NULL;
        reading = &parser->readings[parser->n_readings++];
        *reading = (struct reading){ .segment = { .number = number, .line = place->line, .content = 1 } };
        reading->segment.work.number = number;
        reading->segment.work.packet_bytes = PACKET_BYTES;
        return reading;
}

static int on_key(void *data, const struct ini_place *place, const char *section, const char *key,
                  const char *value)
{
        static const char prefix[] = "segment ";
        struct parser *parser = data;
        struct reading *reading;
        uint64_t number;

        if (strcmp(section, "scenario") == 0)
                return parse_scenario(parser, place, key, value);
        if (strncmp(section, prefix, strlen(prefix)) != 0 ||
            util_parse_u64(section + strlen(prefix), &number) < 0 || number > UINT32_MAX)
                return ini_error(place, "[%.60s] is unknown; there are [scenario] and [segment N]", section);
        reading = find_reading(parser, place, (unsigned)number);
        if (!reading)
                return ini_error(place, "more than %d segments", SEGMENTS_MAX);
        return parse_segment(parser, place, reading, key, value);
}

static bool has_display(const struct profile *truth)
{
        for (size_t i = 0; i < truth->n_coefficients; i++)
                if (truth->coefficients[i].term == TERM_DISPLAY)
                        return true;
        return false;
}

static int check_segment(const struct parser *parser, const struct ini_place *file, struct reading *reading)
{
        struct ini_place place = *file;
        struct scenario_segment *segment = &reading->segment;

        place.line = segment->line;
        for (unsigned i = KEY_APP; i <= KEY_LENGTH; i++)
                if (!reading->said[i])
                        return ini_error(&place, "[segment %u] has no %s", segment->number, segment_keys[i]);
        if (segment->work.foreground && !parser->said_brightness && has_display(parser->truth))
                return ini_error(&place,
                                 "[segment %u] is in the foreground, but [scenario] has no brightness",
                                 segment->number);
        for (unsigned i = KEY_PACKET_BYTES; i <= KEY_BURST; i++)
                if (reading->said[i] && !reading->said[KEY_PACKETS])
                        return ini_error(&place, "[segment %u] has %s and no packets_per_s", segment->number,
                                         segment_keys[i]);
        if (segment->work.pattern == VIRTUAL_BURSTS && !reading->said[KEY_BURST])
                return ini_error(&place, "[segment %u] has pattern = bursts and no burst_packets", segment->number);
        for (size_t i = 0; i < POLICIES_MAX; i++)
                if (reading->said_threads && reading->said_cores[i])
                        return ini_error(&place, "[segment %u] has cores and threads; it may have one of them",
                                         segment->number);
        segment->start_ns = (uint64_t)llround(reading->start_s * 1e9);
        segment->end_ns = segment->start_ns + (uint64_t)llround(reading->length_s * 1e9);
        return 0;
}

static int by_start(const void *a, const void *b)
{
        const struct scenario_segment *left = a, *right = b;

        if (left->start_ns != right->start_ns)
                return left->start_ns < right->start_ns ? -1 : 1;
        return (left->number > right->number) - (left->number < right->number);
}

/*
 * Only one app can be in the foreground. Segments are sorted by start, so a comparison with the latest end so
 * far is enough.
 */
static int check_foreground(const struct scenario *scenario, const struct ini_place *file)
{
        const struct scenario_segment *latest = NULL;

        for (size_t i = 0; i < scenario->n_segments; i++) {
                const struct scenario_segment *segment = &scenario->segments[i];
                struct ini_place place = *file;

                if (!segment->work.foreground)
                        continue;
                place.line = segment->line;
                if (latest && segment->start_ns < latest->end_ns &&
                    strcmp(segment->work.app, latest->work.app) != 0)
                        return ini_error(&place, "[segment %u] and [segment %u] overlap in the foreground",
                                         latest->number, segment->number);
                if (!latest || segment->end_ns > latest->end_ns)
                        latest = segment;
        }
        return 0;
}

static int finish(struct parser *parser, const struct ini_place *file)
{
        struct scenario *scenario = parser->scenario;

        if (parser->n_readings == 0)
                return ini_error(file, "no [segment N]: nothing would happen");
        scenario->segments = calloc(parser->n_readings, sizeof(*scenario->segments));
        if (!scenario->segments)
                return -ENOMEM;
        for (size_t i = 0; i < parser->n_readings; i++) {
                int err = check_segment(parser, file, &parser->readings[i]);

                if (err < 0)
                        return err;
                scenario->segments[scenario->n_segments++] = parser->readings[i].segment;
                scenario->end_ns = MAX(scenario->end_ns, parser->readings[i].segment.end_ns);
        }
        qsort(scenario->segments, scenario->n_segments, sizeof(*scenario->segments), by_start);
        return check_foreground(scenario, file);
}

int scenario_parse(const char *text, size_t length, const char *name, const struct profile *truth,
                   const struct log *log, struct scenario **ret)
{
        _cleanup_(scenario_freep) struct scenario *scenario = calloc(1, sizeof(*scenario));
        struct parser parser = { .truth = truth, .scenario = scenario };
        struct ini_place file = { .name = name, .log = log };
        int err;

        if (!scenario)
                return -ENOMEM;
        scenario->wifi = true;
        err = ini_text_parse(text, length, name, log, on_key, &parser);
        if (!err)
                err = finish(&parser, &file);
        free(parser.readings);
        if (err < 0)
                return err;
        *ret = TAKE_PTR(scenario);
        return 0;
}

int scenario_load(const char *name_or_file, const struct profile *truth, const struct log *log,
                  struct scenario **ret)
{
        _cleanup_free_ char *path = NULL, *text = NULL;
        size_t length;
        int err = offer_find("virtual/scenarios", "scenario", name_or_file, log, &path);

        if (!err)
                err = ini_text_read(path, TEXT_MAX, log, &text, &length);
        return err < 0 ? err : scenario_parse(text, length, path, truth, log, ret);
}
