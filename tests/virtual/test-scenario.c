/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The scenario's text: what it means, and one sentence for each mistake. */

#include <errno.h>

#include "check.h"
#include "util/units.h"
#include "util/util.h"
#include "virtual/scenario.h"

#define DEVICE                                                                                               \
        "[profile]\nversion = 1\ndevice = test\n[battery]\nenergy_full_mwh = 10000\n[base]\npower_mw = 100\n"\
        "[cpu 0]\ncpus = 0-1\nactive_mw.500000 = 200\nactive_mw.1000000 = 500\n"                             \
        "[cpu 4]\ncpus = 4-7\nactive_mw.700000 = 300\n"                                                      \
        "[display]\nmax_brightness = 255\npower_mw.5 = 300\n[virtual]\nseed = 1\n"

#define GAME "[segment 1]\napp = game\nstate = foreground\nstart_s = 0\nlength_s = 1200\n"

#define QUIET "[segment 1]\napp = a\nstate = background\nstart_s = 0\nlength_s = 1\n"

static char said[1024];

static void remember(void *data, enum log_level level, const char *sentence)
{
        snprintf(said, sizeof(said), "%s", sentence);
}

static const struct log log_said = { .handler = remember };

static struct profile *device(void)
{
        static struct profile *truth;

        if (!truth)
                check_int(profile_parse(DEVICE, strlen(DEVICE), "device", &log_said, &truth), 0);
        return truth;
}

static void test_meaning(void)
{
        static const char text[] =
                "[scenario]\nbrightness = 178\nwifi = off\n"
                "[segment 2]\napp = music\nstate = background\nstart_s = 600.5\nlength_s = 1000\n"
                "cores.4 = 0.5 0 0.25\nkhz.4 = 700000\n"
                "[segment 1]\napp = game\nstate = foreground\nstart_s = 0\nlength_s = 1200\nkhz = 1000000\n"
                "cores = 0.8 0.3\nread_mb_per_s = 0.1\nwrite_mb_per_s = 0.02\nrx_mb_per_s = 0.05\n"
                "tx_mb_per_s = 0.01\nwakes_per_s = 0.1\ngpu = 0.4\ncpu_factor = 0.7\ncontent = 0.25\nunseen_mw = 400\n"
                "instructions_per_cycle = 1.6\nmisses_per_kinstruction = 5.7\n"
                "packets_per_s = 50\npacket_bytes = 200\npattern = bursts\nburst_packets = 7\nradio = cellular\n"
                "gps = on\naudio = on\ncamera = on\n";
        _cleanup_(scenario_freep) struct scenario *scenario = NULL;
        const struct virtual_work *game, *music;

        check_int(scenario_parse(text, strlen(text), "s.ini", device(), &log_said, &scenario), 0);
        if (!scenario)
                return;
        check_int(scenario->brightness, 178);
        check(!scenario->wifi);
        check_int(scenario->n_segments, 2);
        check_int(scenario->segments[0].number, 1);
        check_int(scenario->segments[1].start_ns, 600500 * NS_PER_MS);
        check_int(scenario->end_ns, 1600500 * NS_PER_MS);
        game = &scenario->segments[0].work;
        music = &scenario->segments[1].work;
        check_text(game->app, "game");
        check(game->foreground && !music->foreground);
        check_int(game->policy_khz[0], 1000000);
        check_int(game->policy_khz[1], 0);
        check_int(music->policy_khz[1], 700000);
        check_near(game->utilisation[1], 0.3, 0);
        check_near(music->utilisation[2], 0.5, 0); /* the first CPU of the second policy */
        check_near(music->utilisation[4], 0.25, 0);
        check_near(game->wakes_per_s, 0.1, 0);
        check_near(game->gpu, 0.4, 0);
        check_near(game->cpu_factor, 0.7, 0);
        check_near(game->instructions_per_cycle, 1.6, 0);
        check_near(game->misses_per_kinstruction, 5.7, 0);
        check_near(game->unseen_mw, 400, 0);
        check_near(scenario->segments[0].content, 0.25, 0);
        check_near(game->packets_per_s, 50, 0);
        check_int(game->packet_bytes, 200);
        check_int(game->pattern, VIRTUAL_BURSTS);
        check_int(game->burst_packets, 7);
        check_int(game->radio, AIR_CELLULAR);
        check(game->gps && game->audio && game->camera && !music->gps && !music->audio && !music->camera);
        check_int(music->radio, AIR_WIFI);
        check_near(music->packets_per_s, 0, 0);
        check_int(game->number, 1);
        check_near(music->unseen_mw, 0, 0);
        check_near(scenario->segments[1].content, 1, 0);
        check_int(scenario_next_ns(scenario, 0), 600500 * NS_PER_MS);
        check_int(scenario_next_ns(scenario, 600500 * NS_PER_MS), 1200 * NS_PER_S);
        check(scenario_next_ns(scenario, 1600500 * NS_PER_MS) == UINT64_MAX);
}

static void test_mistakes(void)
{
        static const struct {
                const char *text;
                const char *sentence; /* begins with that */
        } cases[] = {
                { "", "s.ini:1: the file is empty" },
                { "[scenario]\nbrightness = 1\n", "s.ini: no [segment N]" },
                { "[scenario]\nbrightness = 1", "s.ini:2: the last line does not end" },
                { "[scenario]\ncolour = 1\n", "s.ini:2: colour is no key" },
                { "[scenario]\nbrightness = 256\n", "s.ini:2: brightness = 256 is not in 0..255" },
                { "[scenario]\nbrightness = -1\n", "s.ini:2: brightness = -1 is not in 0..255" },
                { "[scenario]\nbrightness = 1.5\n", "s.ini:2: brightness = 1.5 is not in 0..255" },
                { "[scenario]\nbrightness = 1\nbrightness = 2\n", "s.ini:3: brightness is here for the second" },
                { "[scenario]\nwifi = maybe\n", "s.ini:2: wifi = maybe is unknown" },
                { "[other]\nwifi = on\n", "s.ini:2: [other] is unknown" },
                { "[segment]\napp = a\n", "s.ini:2: [segment] is unknown" },
                { "[segment one]\napp = a\n", "s.ini:2: [segment one] is unknown" },
                { "nonsense\n", "s.ini:1: this is neither" },
                { GAME, "s.ini:2: [segment 1] is in the foreground, but [scenario] has no brightness" },
                { "[scenario]\nbrightness = 1\n[segment 1]\nstate = background\nstart_s = 0\nlength_s = 1\n",
                  "s.ini:4: [segment 1] has no app" },
                { "[segment 1]\napp = a\nstart_s = 0\nlength_s = 1\n", "s.ini:2: [segment 1] has no state" },
                { "[segment 1]\napp = a\nstate = background\nlength_s = 1\n", "s.ini:2: [segment 1] has no start_s" },
                { "[segment 1]\napp = a\nstate = background\nstart_s = 1\n", "s.ini:2: [segment 1] has no length_s" },
                { "[segment 1]\napp = a\napp = b\n", "s.ini:3: app is here for the second time" },
                { "[segment 1]\napp =\n", "s.ini:2: app must be 1 to 127 bytes" },
                { "[segment 1]\napp = a\xff\n", "s.ini:2: app must be" },
                { "[segment 1]\nstate = sideways\n", "s.ini:2: state = sideways is unknown" },
                { "[segment 1]\nstart_s = -1\n", "s.ini:2: start_s = -1 is out of range" },
                { "[segment 1]\nlength_s = 0\n", "s.ini:2: length_s = 0 is out of range" },
                { "[segment 1]\nlength_s = nan\n", "s.ini:2: length_s = nan is not a number" },
                { "[segment 1]\nkhz = 600000\n", "s.ini:2: khz = 600000: the device test has no such frequency" },
                { "[segment 1]\nkhz = 700000\n", "s.ini:2: khz = 700000: the device test has no such" },
                { "[segment 1]\nkhz.4 = 500000\n", "s.ini:2: khz.4 = 500000: the device test has no such" },
                { "[segment 1]\nkhz.1 = 500000\n", "s.ini:2: khz.1: the device test has no policy 1" },
                { "[segment 1]\nkhz.x = 500000\n", "s.ini:2: khz.x: the part after the dot" },
                { "[segment 1]\nkhz = fast\n", "s.ini:2: khz = fast is no frequency" },
                { "[segment 1]\nkhz = 500000\nkhz.0 = 500000\n", "s.ini:3: khz.0 is here for the second time" },
                { "[segment 1]\ncores = 0 0 0\n", "s.ini:2: cores: the policy has only 2 cores" },
                { "[segment 1]\ncores = 1.1\n", "s.ini:2: cores = 1.1 is out of range" },
                { "[segment 1]\ncores =\n", "s.ini:2: cores has no value" },
                { "[segment 1]\ncores.7 = 0\n", "s.ini:2: cores.7: the device test has no policy 7" },
                { "[segment 1]\nrx_mb_per_s = -0.1\n", "s.ini:2: rx_mb_per_s = -0.1 is out of range" },
                { "[segment 1]\ninstructions_per_cycle = 0\n", "s.ini:2: instructions_per_cycle = 0 is out of range" },
                { "[segment 1]\nmisses_per_kinstruction = 1001\n",
                  "s.ini:2: misses_per_kinstruction = 1001 is out of" },
                { "[segment 1]\ngpu = 2\n", "s.ini:2: gpu = 2 is out of range" },
                { "[segment 1]\npackets_per_s = 10001\n", "s.ini:2: packets_per_s = 10001 is out of range" },
                { "[segment 1]\npackets_per_s = -1\n", "s.ini:2: packets_per_s = -1 is out of range" },
                { "[segment 1]\npackets_per_s = many\n", "s.ini:2: packets_per_s = many is not a number" },
                { "[segment 1]\npackets_per_s = 1\npackets_per_s = 1\n",
                  "s.ini:3: packets_per_s is here for the second" },
                { "[segment 1]\npacket_bytes = 0\n", "s.ini:2: packet_bytes = 0 is not a whole number from 1 "
                                                     "to 65535" },
                { "[segment 1]\npacket_bytes = 65536\n", "s.ini:2: packet_bytes = 65536 is not a whole number" },
                { "[segment 1]\npacket_bytes = 1.5\n", "s.ini:2: packet_bytes = 1.5 is not a whole number" },
                { "[segment 1]\nburst_packets = 0\n", "s.ini:2: burst_packets = 0 is not a whole number from "
                                                      "1 to 10000" },
                { "[segment 1]\npattern = random\n",
                  "s.ini:2: pattern = random is unknown; it may be steady, poisson or bursts" },
                { "[segment 1]\nradio = lte\n", "s.ini:2: radio = lte is unknown; it may be wifi or cellular" },
                { "[segment 1]\ngps = 1\n", "s.ini:2: gps = 1 is unknown; it may be off or on" },
                { "[segment 1]\ncamera = 1\n", "s.ini:2: camera = 1 is unknown; it may be off or on" },
                { "[segment 1]\naudio = loud\n", "s.ini:2: audio = loud is unknown; it may be off or on" },
                { QUIET "packet_bytes = 100\n", "s.ini:2: [segment 1] has packet_bytes and no packets_per_s" },
                { QUIET "pattern = poisson\n", "s.ini:2: [segment 1] has pattern and no packets_per_s" },
                { QUIET "burst_packets = 3\n", "s.ini:2: [segment 1] has burst_packets and no packets_per_s" },
                { QUIET "packets_per_s = 3\npattern = bursts\n",
                  "s.ini:2: [segment 1] has pattern = bursts and no burst_packets" },
                { "[segment 1]\ncoffee = 2\n", "s.ini:2: coffee is no key of a [segment N]" },
                { "[scenario]\nbrightness = 1\n" GAME
                  "[segment 2]\napp = web\nstate = foreground\nstart_s = 1199\nlength_s = 5\n",
                  "s.ini:9: [segment 1] and [segment 2] overlap in the foreground" },
                { "[segment 1]\napp = a\1b\n", "s.ini:2: this is not a text" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct scenario *scenario = NULL;

                said[0] = '\0';
                check_int(scenario_parse(cases[i].text, strlen(cases[i].text), "s.ini", device(), &log_said,
                                         &scenario), -EINVAL);
                check(!scenario);
                if (strncmp(said, cases[i].sentence, strlen(cases[i].sentence)) != 0)
                        check_text(said, cases[i].sentence);
                scenario_free(scenario);
        }
}

/* Foreground segments may follow each other without a gap, and one app may overlap itself. */
static void test_allowed(void)
{
        static const char *const texts[] = {
                "[scenario]\nbrightness = 0\n" GAME
                "[segment 2]\napp = web\nstate = foreground\nstart_s = 1200\nlength_s = 5\n",
                "[scenario]\nbrightness = 255\n" GAME
                "[segment 2]\napp = game\nstate = foreground\nstart_s = 600\nlength_s = 5\n",
                QUIET "packets_per_s = 0\nburst_packets = 3\ngps = off\nradio = wifi\n",
                "; a comment\n[segment 7]\napp = a ; another\nstate = background\nstart_s = 0\nlength_s = 1\n",
        };

        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                struct scenario *scenario = NULL;

                check_int(scenario_parse(texts[i], strlen(texts[i]), "s.ini", device(), &log_said, &scenario), 0);
                check(!scenario || scenario->wifi);
                scenario_free(scenario);
        }
}

static void test_apply(void)
{
        static const char text[] = "[scenario]\nbrightness = 100\n" GAME "khz = 500000\ncores = 1 0\n";
        _cleanup_(scenario_freep) struct scenario *scenario = NULL;
        _cleanup_(virtual_freep) struct virtual_device *virtual = NULL;
        struct sample sample = { 0 };
        struct source *source;

        check_int(scenario_parse(text, strlen(text), "s.ini", device(), &log_said, &scenario), 0);
        check_int(virtual_open(device(), VIRTUAL_SIMULATE, 1, 50, &log_said, &virtual), 0);
        check_int(virtual_source_open(virtual, &source), 0);
        check_int(scenario_apply(scenario, 0, virtual), 0);
        check_int(virtual_advance(virtual, 1200 * NS_PER_S), 0);
        check_int(scenario_apply(scenario, 1200 * NS_PER_S, virtual), 0);
        check_int(source->ops->read(source, &sample), 0);
        check(!sample.screen.screen_on);
        check_int(sample.n_events, 2);
        check_text(sample.events[0].app, "game");
        check_int(sample.cores[0].busy_ns, 1200 * NS_PER_S);
        source->ops->close(source);
        sample_clear(&sample);
}

int main(void)
{
        test_meaning();
        test_mistakes();
        test_allowed();
        test_apply();
        profile_free(device());
        return check_result();
}
