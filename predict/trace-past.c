/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace-past.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "api/joulecast-private.h"
#include "ask.h"
#include "forecast/suspend.h"
#include "names.h"
#include "recorded.h"
#include "util/util.h"

struct replay {
        struct trace_form *form;
        const struct desktop_index *index;
        uint64_t count;
        struct cost_maker *totals;
        int64_t first_ns, last_ns; /* span of the polls that were shown */
        uint64_t elapsed_ns, suspend_ns;
};

static int add_rows(struct cost_maker *maker, const struct store_poll *poll)
{
        int err = 0;

        for (size_t i = 0; !err && i < poll->n_rows; i++)
                err = cost_maker_add(maker, &poll->rows[i]);
        return err;
}

/* Returns 1 when --count is reached. The battery's level is not used: its steps are too large for a single poll. */
static int show_poll(void *data, const struct store_poll *poll)
{
        _cleanup_(cost_maker_freep) struct cost_maker *maker = NULL;
        _cleanup_(cost_freep) struct cost *cost = NULL;
        struct replay *replay = data;
        struct trace_line line;
        int err = cost_maker_new(&maker);

        if (!err)
                err = add_rows(maker, poll);
        if (!err)
                err = add_rows(replay->totals, poll);
        if (!err)
                err = cost_maker_finish(maker, replay->form->profile, NULL, &cost);
        if (err)
                return err;
        names_localise(replay->index, cost);
        if (replay->elapsed_ns == 0)
                replay->first_ns = poll->start_ns;
        replay->last_ns = poll->end_ns;
        replay->elapsed_ns += poll->elapsed_ns;
        replay->suspend_ns += poll->suspend_ns;
        line = (struct trace_line){ .cost = cost, .seconds = (double)poll->elapsed_ns / 1e9,
                                    .suspend_s = (double)poll->suspend_ns / 1e9,
                                    .measured = cost_sensor_w(&poll->battery) };
        err = trace_print(replay->form, &line);
        return !err && replay->form->lines == replay->count ? 1 : err;
}

/* Rows of zeros look like those of an app that used nothing. */
static bool was_seen(const struct trace_form *form, const struct cost *cost)
{
        for (size_t i = 0; form->app && i < cost->n_apps; i++)
                if (trace_is_wanted(form, &cost->apps[i]))
                        return true;
        return !form->app;
}

/* Prints the totals, as `joulecast cost` does for the same time. -ENOENT: --app was not seen. */
static int show_totals(struct replay *replay, struct store *store)
{
        _cleanup_(cost_freep) struct cost *cost = NULL;
        struct store_battery battery = { 0 };
        struct trace_line line;
        int err = store_battery(store, replay->first_ns, replay->last_ns, &battery);

        if (!err)
                err = store_battery_step(store, &battery.step);
        if (!err)
                err = cost_maker_finish(replay->totals, replay->form->profile, &battery, &cost);
        if (err)
                return err;
        names_localise(replay->index, cost);
        line = (struct trace_line){ .cost = cost, .seconds = (double)replay->elapsed_ns / 1e9,
                                    .suspend_s = (double)replay->suspend_ns / 1e9, .measured = cost->measured_j.value,
                                    .total = true };
        err = trace_print(replay->form, &line);
        return err || was_seen(replay->form, cost) ? err : -ENOENT;
}

static int replay_store(struct replay *replay, struct store *store, int64_t from_ns, int64_t to_ns)
{
        int err = cost_maker_new(&replay->totals);

        if (!err)
                err = store_polls(store, from_ns, to_ns, show_poll, replay);
        if (err >= 0 && replay->elapsed_ns == 0)
                return -ENODATA;
        return err < 0 ? err : show_totals(replay, store);
}

static int failed(const char *app, int err)
{
        char name[APP_ID_MAX];

        if (err == -ENOENT && app) {
                log_error(&program_log, "%s was not seen in that time; joulecast apps lists what was",
                          util_printable(app, name, sizeof(name)));
                return CODE_NO_DATA;
        }
        if (err == -ENODATA) {
                log_error(&program_log, "no polls of that time are kept; joulecast cost has the sums of older ones");
                return CODE_NO_DATA;
        }
        log_error(&program_log, "%s: %s", ferror(stdout) ? "the answer could not be written" : "the replay stopped",
                  strerror(-err));
        return CODE_FAILED;
}

/* The id of the app that --app names; one that was not seen stays as it is. */
static int find_app(const struct options *options, const struct moment *from, int64_t to_ns, const struct ask *ask,
                    struct trace_form *form, char *app)
{
        const struct recorded wanted = { .options = *options, .app = form->app, .from = *from, .to_ns = to_ns };
        int err = form->app ? recorded_find_app(ask->usage, &wanted, app) : -ENODATA;

        if (!err)
                form->app = app;
        return err == -EEXIST || err == -ENOENT ? CODE_NO_DATA : CODE_OK;
}

int trace_past(const struct options *options, struct moment *from, int64_t to_ns, uint64_t count,
               struct trace_form *form)
{
        _cleanup_(ask_close) struct ask ask = { 0 };
        _cleanup_(profile_freep) struct profile *learnt = NULL;
        struct replay replay = { .form = form, .count = count };
        struct desktop_index *index;
        const char *asked = form->app;
        char app[APP_ID_MAX];
        int code = ask_open(options, &ask), err;

        if (code != CODE_OK)
                return code;
        if (!ask.usage->store) {
                log_error(&program_log, "the service does not answer questions about single polls; run this "
                          "as root, or use joulecast cost");
                return CODE_FAILED;
        }
        code = ask_moment(ask.usage, from);
        if (code != CODE_OK)
                return code;
        code = find_app(options, from, to_ns, &ask, form, app);
        if (code != CODE_OK)
                return code;
        err = suspend_learn_past(ask.profile->profile, ask.usage->store, from->ns, to_ns, &learnt);
        if (err < 0 && err != -ENODATA)
                return failed(form->app, err);
        form->profile = learnt ? learnt : ask.profile->profile;
        form->usage = true;
        if (!options->json && !options->profile)
                answer_note_basis(form->profile);
        replay.index = index = options->device ? NULL : desktop_index_of_user();
        err = replay_store(&replay, ask.usage->store, from->ns, to_ns);
        desktop_index_free(index);
        cost_maker_free(replay.totals);
        form->app = asked;
        return err < 0 ? failed(form->app, err) : CODE_OK;
}
