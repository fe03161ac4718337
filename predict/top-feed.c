/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top-feed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "api/answer-fields.h"
#include "api/request.h"
#include "forecast/charging.h"
#include "machine/machine.h"
#include "util/units.h"
#include "util/util.h"

#define PATIENCE_S 5 /* a person waits */

struct top_feed {
        struct top_feed_options options;
        enum top_kind kind;

        char fingerprint[SERVICE_FINGERPRINT_MAX]; /* identifies the profile for the service */
        uint64_t number;        /* number in the service's last answer */
        struct top_reading first; /* reading from its first answer; cost NULL: it was read already */
        int64_t silent_ns;      /* CLOCK_MONOTONIC since when the service does not answer; 0: it does */

        struct sources sources;
        struct interval_maker *maker;
        struct sample sample;
        struct interval interval;

        int64_t shown_ns;       /* end of the recorded poll that was shown last */
};

void top_feed_close(struct top_feed *feed)
{
        if (!feed)
                return;
        cost_free(feed->first.cost);
        sources_close(&feed->sources);
        interval_maker_free(feed->maker);
        interval_clear(&feed->interval);
        sample_clear(&feed->sample);
        free(feed);
}

enum top_kind top_feed_kind(const struct top_feed *feed)
{
        return feed->kind;
}

bool top_feed_own_only(const struct top_feed *feed)
{
        bool own = feed->kind == TOP_SERVICE && geteuid() != 0;

        for (size_t i = 0; i < feed->sources.n; i++)
                own = own || feed->sources.list[i]->own_only;
        return own;
}

static void read_charge(const struct top_feed *feed, const struct battery *battery, struct top_reading *ret)
{
        struct forecast_battery known = { .known = battery->have != 0, .battery = *battery };
        const struct joulecast_usage *usage = feed->options.ask->usage;

        if (usage && usage->store)
                (void)charging_correct(usage->store, feed->options.profile, ret->time_ns, &known.battery);
        (void)api_usage_percent(&known, &ret->percent);
        ret->plugged = api_usage_plugged(&known);
}

static int take_answer(struct top_feed *feed, const char *text, char *sentence, struct top_reading *ret)
{
        _cleanup_(service_json_freep) struct cJSON *json = NULL;
        struct answer_live live;
        int err = service_parse(text, &json);

        if (!err)
                err = service_error_in(json, sentence, 256);
        if (!err)
                err = answer_live_from_json(json, &live, &ret->cost);
        if (err)
                return err;
        ret->seconds = ret->cost->recorded_s;
        if (live.number == feed->number || !(ret->seconds > 0)) {
                cost_free(ret->cost);
                ret->cost = NULL;
        } else {
                ret->percent = live.percent;
                ret->plugged = live.plugged;
        }
        feed->number = live.number;
        return 0;
}

/* The service answers by the machine's profile only, and refuses questions with another one. */
static int ask_service(struct top_feed *feed, char *sentence, struct top_reading *ret)
{
        _cleanup_free_ char *question = NULL, *text = NULL;
        struct request request;
        int err;

        *sentence = '\0';
        request_begin(&request, "live", NULL);
        request_text(&request, "profile", feed->fingerprint);
        request_number(&request, "after", feed->number > 0 ? (double)feed->number : NAN);
        err = request_print(&request, &question);
        if (!err)
                err = service_exchange(service_path(), question, PATIENCE_S, &text);
        if (!err)
                err = take_answer(feed, text, sentence, ret);
        return err == -ENODATA ? 0 : err; /* it has seen nothing yet */
}

/* A service that restarts, or is busy, answers later. */
static int bear_silence(struct top_feed *feed, const char *why)
{
        int64_t now_ns = (int64_t)util_clock_ns(CLOCK_MONOTONIC); /* stands still while the machine sleeps */

        if (!feed->silent_ns) {
                feed->silent_ns = now_ns;
                log_warning(feed->options.log, "the service gives no answer (%s); trying again", why);
        }
        return feed->options.ends_alone && now_ns - feed->silent_ns >= TOP_GONE_S * (int64_t)NS_PER_S ? -ETIMEDOUT : 0;
}

static int read_service(struct top_feed *feed, struct top_reading *ret)
{
        char sentence[256];
        int err;

        if (feed->first.cost) {
                *ret = feed->first;
                feed->first.cost = NULL;
                return 0;
        }
        err = ask_service(feed, sentence, ret);
        if (err == -ENOMEM)
                return err;
        if (err)
                return bear_silence(feed, *sentence ? sentence : strerror(-err));
        feed->silent_ns = 0;
        return 0;
}

static int read_sources(struct top_feed *feed, struct top_reading *ret)
{
        int err = sources_read(&feed->sources, &feed->sample);

        if (!err && sources_miss_processes(&feed->sources))
                return interval_skip(feed->maker, &feed->sample);
        if (!err)
                err = interval_make(feed->maker, &feed->sample, &feed->interval);
        if (err)
                return err == -ENODATA ? 0 : err;
        ret->seconds = (double)feed->interval.elapsed_ns / NS_PER_S;
        read_charge(feed, &feed->interval.battery, ret);
        return cost_make_now(feed->options.profile, &feed->interval, 1, -1, &ret->cost);
}

struct replay {
        struct top_feed *feed;
        struct top_reading *reading;
};

static int take_poll(void *data, const struct store_poll *poll)
{
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        struct replay *replay = data;
        struct cost *cost = NULL;
        int err = cost_maker_new(&maker);

        for (size_t i = 0; !err && i < poll->n_rows; i++)
                err = cost_maker_add(maker, &poll->rows[i]);
        if (!err)
                err = cost_maker_finish(maker, replay->feed->options.profile, NULL, &cost);
        if (err)
                return err;
        cost->measured_j.value = cost_sensor_w(&poll->battery) * (double)poll->elapsed_ns / NS_PER_S;
        cost->unexplained_j.value = cost->measured_j.value - cost->total_j.value;
        replay->reading->cost = cost;
        replay->reading->seconds = (double)poll->elapsed_ns / NS_PER_S;
        replay->reading->time_ns = replay->feed->shown_ns = poll->end_ns;
        read_charge(replay->feed, &poll->battery, replay->reading);
        return 1;
}

static int read_recorded(struct top_feed *feed, struct top_reading *ret)
{
        struct replay replay = { feed, ret };
        int err = store_polls(feed->options.ask->usage->store, feed->shown_ns, feed->options.to_ns, take_poll, &replay);

        return err > 0 ? 0 : err ? err : -ENODATA;
}

int top_feed_read(struct top_feed *feed, struct top_reading *ret)
{
        *ret = (struct top_reading){ .percent = NAN, .plugged = -1, .time_ns = values_now_ns() };
        switch (feed->kind) {
        case TOP_SERVICE:
                return read_service(feed, ret);
        case TOP_RECORDED:
                return read_recorded(feed, ret);
        default:
                return read_sources(feed, ret);
        }
}

/* Does a service answer, and by this profile? */
static bool service_answers(struct top_feed *feed)
{
        char sentence[256];

        if (feed->options.collector || feed->options.options->machine)
                return false;
        feed->first = (struct top_reading){ .percent = NAN, .plugged = -1, .time_ns = values_now_ns(), .before = true };
        return service_fingerprint(feed->options.profile, feed->fingerprint) == 0 &&
               ask_service(feed, sentence, &feed->first) == 0;
}

static int open_sources(struct top_feed *feed)
{
        const struct options *options = feed->options.options;
        const struct machine_options machine = {
                .root = options->machine,
                .collectors = options->machine ? plain_collectors : all_collectors,
                .collector = feed->options.collector,
                .log = feed->options.log,
        };
        int err = machine_open(&machine, &feed->sources);

        if (!err)
                err = interval_maker_new(&feed->maker);
        return !err ? CODE_OK : err == -EINVAL && feed->options.collector ? CODE_USAGE : CODE_FAILED;
}

static int check_recorded(const struct top_feed_options *options)
{
        if (!options->ask->usage)
                return CODE_NO_DATA;
        if (options->ask->usage->store)
                return CODE_OK;
        log_error(options->log, "the service does not answer questions about single polls; run this as root, "
                                "or leave out --from");
        return CODE_FAILED;
}

int top_feed_open(const struct top_feed_options *options, struct top_feed **ret)
{
        struct top_feed *feed = calloc(1, sizeof(*feed));
        int code = CODE_OK;

        if (!feed)
                return CODE_FAILED;
        feed->options = *options;
        feed->shown_ns = options->from_ns;
        if (options->from_ns != INT64_MIN) {
                feed->kind = TOP_RECORDED;
                code = check_recorded(options);
        } else if (service_answers(feed)) {
                feed->kind = TOP_SERVICE;
        } else {
                feed->kind = TOP_SOURCES;
                code = open_sources(feed);
        }
        if (code != CODE_OK)
                top_feed_close(feed);
        else
                *ret = feed;
        return code;
}
