/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "run-file.h"
#include "util/util.h"

/*
 * A folder of `joulecast emulate -o`: its run.json and the tables of seed 1, separated by lines "---". It is refused
 * with one message, or can be priced, and then no energy is negative.
 */

static const char *const names[] = { "run.json",    "packets-1.csv", "cpu-1.csv",
                                     "tasks-1.csv", "names-1.csv",   "screen-1.csv" };

static const char phone[] = "[profile]\nversion = 1\ndevice = fuzz\nmethod = import\n[battery]\n"
                            "energy_full_mwh = 5000\n"
                            "[base]\npower_mw = 30\n"
                            "[cpu 0]\ncpus = 0\nactive_mw.245000 = 200\nactive_mw.998400 = 560\n"
                            "[display]\nmax_brightness = 255\npower_mw.0 = 100\npower_mw.255 = 900\n"
                            "[radio wifi]\ninitial = idle\n[radio wifi idle]\npower_mw = 10\non_tx = high\n"
                            "on_rx = high\n"
                            "[radio wifi high]\npower_mw = 600\nafter = 1000 idle\n";

static void one_sentence(void *data, enum log_level level, const char *sentence)
{
        unsigned *n = data;

        fuzz_assert(*sentence && !strchr(sentence, '\n') && !strchr(sentence, '\033'));
        *n += level == LOG_LEVEL_ERROR;
}

static void write_file(int folder, const char *name, const char *bytes, size_t size)
{
        _cleanup_close_ int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        fuzz_assert(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
}

static void make_folder(char folder[64])
{
        fuzz_place(folder, "run");
        fuzz_assert(mkdtemp(folder));
}

static void remove_folder(const char *folder, int fd)
{
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                unlinkat(fd, names[i], 0);
        rmdir(folder);
}

static void write_parts(int folder, const char *text, size_t size)
{
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                const char *end = i + 1 < ARRAY_SIZE(names) ? memmem(text, size, "---\n", 4) : NULL;
                size_t length = end ? (size_t)(end - text) : size;

                write_file(folder, names[i], text, length);
                text += end ? length + 4 : length;
                size -= end ? length + 4 : length;
        }
}

static void price(const struct recorded_run *recorded)
{
        struct target target = { .signal = RADIO_SIGNAL_HIGH,
                                 .cpus = 1,
                                 .screen = { .emission = 0.5, .parts = { 0.4, 0.4, 0.2 }, .video_mw = 231 } };
        struct network network = { .kind = NETWORK_WIFI };
        struct condition condition = { &target, &network, { 2, 1, 3, true, NAN }, recorded->brightness_percent, NAN };
        struct price prices[PRICE_SEEDS_MAX], mean;
        double series[8][COMPONENT_COUNT], states[8][RADIO_STATES_MAX];

        fuzz_assert(profile_parse(phone, strlen(phone), "fuzz", NULL, &target.profile) == 0);
        target.has_radio = radio_with_carrier(&target.profile->radios, "wifi", NULL, &target.radio) == 0;
        fuzz_assert(target.has_radio);
        for (size_t i = 0; i < recorded->n_runs; i++) {
                fuzz_assert(price_run(&condition, &recorded->runs[i], &prices[i]) == 0);
                for (int c = 0; c < COMPONENT_COUNT; c++)
                        fuzz_assert(!(prices[i].component_j[c] < 0) && !isinf(prices[i].component_j[c]));
                fuzz_assert(prices[i].energy_j.low >= 0 && prices[i].energy_j.low <= prices[i].energy_j.high);
                fuzz_assert(price_series(&condition, &recorded->runs[i], ARRAY_SIZE(series), series) == 0);
                fuzz_assert(price_radio_states(&condition, &recorded->runs[i], ARRAY_SIZE(states), states) == 0);
        }
        price_mean(&condition, prices, recorded->n_runs, &mean);
        fuzz_assert(mean.energy_j.value >= 0);
        profile_free(target.profile);
        radio_clear(&target.radio);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct recorded_run run = { 0 };
        unsigned n_errors = 0;
        struct log log = { one_sentence, &n_errors };
        char folder[64];
        int err, fd;

        make_folder(folder);
        fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fuzz_assert(fd >= 0);
        write_parts(fd, (const char *)data, size);
        err = run_load(folder, &log, &run);
        remove_folder(folder, fd);
        close(fd);
        fuzz_assert(err == 0 ? n_errors == 0 : n_errors == 1);
        if (err)
                return 0;
        for (size_t i = 0; i < run.n_runs; i++)
                fuzz_assert(run.runs[i].wall_ns > 0);
        price(&run);
        run_file_clear(&run);
        return 0;
}
