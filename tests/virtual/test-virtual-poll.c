/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * From a virtual device through source, sample and interval to energy, with the truth as the profile: on a device
 * without noise, leakage and idle cost the model is exact, so that modelled and true energy agree to 1e-6.
 */

#include <errno.h>

#include "check.h"
#include "interval/interval.h"
#include "model/model.h"
#include "util/units.h"
#include "util/util.h"
#include "virtual/scenario.h"
#include "virtual/virtual-truth.h"

#define DEVICE                                                                                               \
        "[profile]\nversion = 1\ndevice = plain\n[battery]\nenergy_full_mwh = 15000\n[base]\npower_mw = 150\n"\
        "[cpu 0]\ncpus = 0-3\n"                                                                              \
        "active_mw.500000 = 200\nactive_mw.1000000 = 500\nshared_mw.500000 = 40\nshared_mw.1000000 = 80\n"   \
        "[cpu 4]\ncpus = 4-5\nactive_mw.700000 = 300\nactive_mw.1700000 = 900\n"                             \
        "shared_mw.700000 = 30\nshared_mw.1700000 = 90\n"                                                    \
        "[display]\nmax_brightness = 255\npower_mw.5 = 300\npower_mw.255 = 800\n"                            \
        "[disk]\nread_mj_per_mb = 6\nwrite_mj_per_mb = 25\n"                                                 \
        "[wifi]\non_mw = 30\nrx_mj_per_mb = 350\ntx_mj_per_mb = 550\nwake_mj = 120\n"                        \
        "[gpu]\nactive_mw = 900\n[virtual]\nseed = 7\n"

/* Segments on the grid of the polls, so that no interval mixes two of them. */
#define GRID                                                                                                 \
        "[scenario]\nbrightness = 178\n"                                                                     \
        "[segment 1]\napp = game\nstate = foreground\nstart_s = 0\nlength_s = 1200\nkhz = 1000000\n"         \
        "cores = 0.8 0.3 0 0\ncores.4 = 0.5\nread_mb_per_s = 0.1\nwrite_mb_per_s = 0.02\nrx_mb_per_s = 0.05\n"\
        "tx_mb_per_s = 0.01\nwakes_per_s = 0.1\ngpu = 0.4\n"                                                 \
        "[segment 2]\napp = music\nstate = background\nstart_s = 600\nlength_s = 1800\nkhz = 500000\n"       \
        "cores = 0.7 0 0.1 0.05\nkhz.4 = 1700000\ncores.4 = 0 0.02\nrx_mb_per_s = 0.031\nwakes_per_s = 0.07\n"\
        "[segment 3]\napp = game\nstate = background\nstart_s = 1500\nlength_s = 300\ncores = 0.1\n"

/* Everything off the grid, lives shorter than an interval among it. */
#define OFF_GRID                                                                                             \
        "[scenario]\nbrightness = 20\n"                                                                      \
        "[segment 1]\napp = game\nstate = foreground\nstart_s = 7.3\nlength_s = 12.2\nkhz = 1000000\n"       \
        "cores = 0.8\nread_mb_per_s = 0.1\nrx_mb_per_s = 0.05\nwakes_per_s = 1\ngpu = 0.4\n"                 \
        "[segment 2]\napp = web\nstate = foreground\nstart_s = 40\nlength_s = 3.125\nkhz.4 = 1700000\n"      \
        "cores.4 = 0.8 0.1\ntx_mb_per_s = 1\n"                                                               \
        "[segment 3]\napp = music\nstate = background\nstart_s = 31\nlength_s = 500.5\ncores = 0 0.1\n"      \
        "wakes_per_s = 0.3\n"                                                                                \
        "[segment 4]\napp = game\nstate = foreground\nstart_s = 100.01\nlength_s = 399.99\nkhz = 1000000\n"  \
        "cores = 0.8\n"

struct run {
        struct profile *truth;
        struct virtual_device *device;
        struct source *source;
        struct interval_maker *maker;
        struct sample sample;
        struct interval interval;
        double game_j[2], music_j[2], web_j[2], nobody_j; /* by state */
};

static void setup(struct run *run)
{
        *run = (struct run){ 0 };
        check_int(profile_parse(DEVICE, strlen(DEVICE), "device", NULL, &run->truth), 0);
        check_int(virtual_open(run->truth, VIRTUAL_SIMULATE, 1, 90, NULL, &run->device), 0);
        check_int(virtual_source_open(run->device, &run->source), 0);
        check_int(interval_maker_new(&run->maker), 0);
}

static void teardown(struct run *run)
{
        run->source->ops->close(run->source);
        interval_maker_free(run->maker);
        interval_clear(&run->interval);
        sample_clear(&run->sample);
        virtual_free(run->device);
        profile_free(run->truth);
}

static double energy_j(const struct run *run, const struct usage *usage)
{
        struct model_vector vector = { 0 };
        struct model_energy energy;

        check_int(model_vector_make(run->truth, usage, &vector), 0);
        model_energy(run->truth, &vector, 0.95, 0, &energy);
        model_vector_clear(&vector);
        return energy.value_j;
}

static void poll(struct run *run)
{
        sample_reset(&run->sample);
        check_int(run->source->ops->read(run->source, &run->sample), 0);
        if (interval_make(run->maker, &run->sample, &run->interval) < 0)
                return;
        for (size_t i = 0; i < run->interval.n_rows; i++) {
                const struct interval_row *row = &run->interval.rows[i];
                double *to = strcmp(row->app, "game") == 0    ? &run->game_j[row->state]
                             : strcmp(row->app, "music") == 0 ? &run->music_j[row->state]
                             : strcmp(row->app, "web") == 0   ? &run->web_j[row->state]
                                                              : &run->nobody_j;

                *to += energy_j(run, &row->usage);
        }
}

static void play(struct run *run, const char *text, uint64_t interval_ns)
{
        _cleanup_(scenario_freep) struct scenario *scenario = NULL;
        uint64_t change_ns = 0, poll_ns = 0, now_ns = 0;

        check_int(scenario_parse(text, strlen(text), "scenario", run->truth, NULL, &scenario), 0);
        if (!scenario)
                return;
        for (;;) {
                if (now_ns == change_ns) {
                        check_int(scenario_apply(scenario, now_ns, run->device), 0);
                        change_ns = scenario_next_ns(scenario, now_ns);
                }
                if (now_ns == poll_ns || now_ns == scenario->end_ns) {
                        poll(run);
                        poll_ns += interval_ns;
                }
                if (now_ns == scenario->end_ns)
                        return;
                check_int(virtual_advance(run->device, MIN(change_ns, poll_ns) - now_ns), 0);
                now_ns = virtual_now_ns(run->device);
        }
}

static double true_j(const struct virtual_truth *truth, const char *app, bool foreground)
{
        for (size_t i = 0; i < truth->n_apps; i++)
                if (strcmp(truth->apps[i].app, app) == 0 && truth->apps[i].foreground == foreground)
                        return truth->apps[i].energy_j;
        return 0;
}

static void measured_is_what_happened(void)
{
        struct virtual_truth truth;
        struct run run;
        double sum;

        setup(&run);
        play(&run, GRID, 30 * NS_PER_S);
        virtual_truth_read(run.device, &truth);
        check_int(truth.n_apps, 3);
        check(truth.total_j > 1000);
        check_near(run.nobody_j / truth.base_j, 1, 1e-6);
        check_near(run.game_j[1] / true_j(&truth, "game", true), 1, 1e-6);
        check_near(run.game_j[0] / true_j(&truth, "game", false), 1, 1e-6);
        check_near(run.music_j[0] / true_j(&truth, "music", false), 1, 1e-6);
        sum = run.nobody_j + run.game_j[0] + run.game_j[1] + run.music_j[0] + run.music_j[1];
        check_near(sum / truth.total_j, 1, 1e-6);
        teardown(&run);
}

/*
 * Apps that come and go between two polls lose nothing: processes are seen once more after their end.
 * The shared part S is split by the busy time of a whole interval, so apps may differ by a little where
 * their mix changes inside it.
 */
static void nothing_is_lost_between_polls(void)
{
        struct virtual_truth truth;
        struct run run;
        double sum;

        setup(&run);
        play(&run, OFF_GRID, 30 * NS_PER_S);
        virtual_truth_read(run.device, &truth);
        sum = run.nobody_j + run.game_j[0] + run.game_j[1] + run.music_j[0] + run.music_j[1] + run.web_j[0] +
              run.web_j[1];
        check_near(sum / truth.total_j, 1, 1e-6);
        check_near(run.nobody_j / truth.base_j, 1, 1e-6);
        check_near(run.game_j[1] / true_j(&truth, "game", true), 1, 1e-3);
        check_near(run.web_j[1] / true_j(&truth, "web", true), 1, 1e-3);
        check_near(run.music_j[0] / true_j(&truth, "music", false), 1, 1e-2);
        check_near(run.game_j[0], 0, 1e-9);
        check_near(run.web_j[0], 0, 1e-9);
        teardown(&run);
}

int main(void)
{
        measured_is_what_happened();
        nothing_is_lost_between_polls();
        return check_result();
}
