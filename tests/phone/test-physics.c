/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The parts of the phone's physics, with simulated data of QEMU, Linux and the radio; and its registers on a QEMU of 64
 * words.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "check.h"
#include "physics.h"
#include "rtc.h"
#include "util/units.h"
#include "util/util.h"

static const struct log log_all = { .handler = log_to_stderr };

static void test_qtest(void)
{
        uint64_t value = 0, other = 0;
        uint64_t *const answers[] = { &value, NULL, &other };
        const char *good = "OK 0x18\nIRQ raise 5\nOK\nOK 0x00000000ffffffff\nOK";
        size_t at = 0;

        check_int(qtest_parse(good, strlen(good), answers, 3, &at), (ssize_t)strlen(good) - 2);
        check_int(at, 3);
        check_int(value, 0x18);
        check_int(other, 0xffffffff);
        for (size_t i = 0; i < 4; i++) {
                static const char *const bad[] = { "FAIL Unknown command\n", "OK pear\n", "OKAY 0x1\n",
                                                   "OK\n" };

                at = 0;
                check_int(qtest_parse(bad[i], strlen(bad[i]), answers, 1, &at), -EPROTO);
        }
        at = 0;
        check_int(qtest_parse("OK 1\nOK 2\n", 10, answers, 1, &at), -EPROTO); /* one too many */
}

static void test_vcpu(void)
{
        uint64_t value;

        check_int(vcpu_parse_schedstat("1000 500 7\n", &value), 0);
        check_int(value, 1500);
        check_int(vcpu_parse_schedstat("1000\n", &value), -EINVAL);
        check_int(vcpu_parse_status("Name:\tCPU\nvoluntary_ctxt_switches:\t42\n"
                                    "nonvoluntary_ctxt_switches:\t9\n", &value),
                  0);
        check_int(value, 42);
        check_int(vcpu_parse_status("nonvoluntary_ctxt_switches:\t9\n", &value), -EINVAL);
        check_int(vcpu_parse_name("CPU 1/TCG\n"), 1);
        check_int(vcpu_parse_name("CPU 8/TCG\n"), -EINVAL);
        check_int(vcpu_parse_name("qemu-system-x86\n"), -EINVAL);
        check_int(vcpu_parse_name("CPU 1\n"), -EINVAL);
}

static void test_radio(void)
{
        struct phone_radio radio;

        radio_open(&radio, NULL);
        check_int(radio_take(&radio, "{\"at\": 5, \"associated\": true, \"rx_bytes\": 100, \"tx_bytes\": 50}"), 0);
        check(radio.associated);
        check_int(radio.rx_bytes, 0); /* bytes before the first message do not count */
        check_int(radio_take(&radio, "{\"at\": 9, \"associated\": true, \"rx_bytes\": 400, \"tx_bytes\": 50}"), 0);
        check_int(radio_take(&radio, "{\"at\": 9.5, \"associated\": true, \"rx_bytes\": 400, \"tx_bytes\": 90}"), 0);
        check_int(radio.wakes, 1);
        check_int(radio_take(&radio, "{\"at\": 10.5, \"associated\": true, \"rx_bytes\": 401, \"tx_bytes\": 90}"), 0);
        check_int(radio.wakes, 2);
        check_int(radio.rx_bytes, 301);
        check_int(radio.tx_bytes, 40);
        check_int(radio_take(&radio, "{\"at\": 1, \"associated\": false, \"rx_bytes\": 7, \"tx_bytes\": 7}"), 0);
        check_int(radio.rx_bytes, 301); /* the counters restarted */
        check(!radio.associated);
        check_int(radio_take(&radio, "{\"at\": 1}"), -EPROTO);
        check_int(radio_take(&radio, "pear"), -EPROTO);
}

static void test_blocks(void)
{
        uint64_t read_bytes = 1, write_bytes = 1;

        check_int(blocks_parse("{\"QMP\": {\"version\": {}}}", &read_bytes, &write_bytes), 0);
        check_int(blocks_parse("{\"return\": {}}", &read_bytes, &write_bytes), 0);
        check_int(read_bytes, 1);
        check_int(blocks_parse("{\"return\": [{\"stats\": {\"rd_bytes\": 512, \"wr_bytes\": 3}},"
                               " {\"stats\": {\"rd_bytes\": 8}}]}", &read_bytes, &write_bytes), 1);
        check_int(read_bytes, 520);
        check_int(write_bytes, 3);
        check_int(blocks_parse("{\"error\": {\"class\": \"GenericError\"}}", &read_bytes, &write_bytes),
                  -EPROTO);
        check_int(blocks_parse("pear", &read_bytes, &write_bytes), -EPROTO);
}

/* Without noise, leakage or a voltage curve: all can be worked out with a pencil. */
#define PLAIN \
        "[profile]\nversion = 1\ndevice = plain\n[battery]\nenergy_full_mwh = 10000\n[base]\npower_mw = 100\n" \
        "[cpu 0]\ncpus = 0\nactive_mw.800000 = 200\nactive_mw.2400000 = 900\n" \
        "[cpu 1]\ncpus = 1\nactive_mw.800000 = 300\nactive_mw.2400000 = 1100\n" \
        "idle_mw.800000 = 0\nidle_mw.2400000 = 20\n" \
        "[display]\nmax_brightness = 10\npower_mw.1 = 200\npower_mw.10 = 1100\n" \
        "[disk]\nread_mj_per_mb = 6\nwrite_mj_per_mb = 25\n" \
        "[wifi]\non_mw = 30\nrx_mj_per_mb = 350\ntx_mj_per_mb = 550\nwake_mj = 120\n" \
        "[suspend]\npower_mw = 15\n[virtual]\nseed = 7\nx-factor = 10\nlevel_step_percent = 1\n" \
        "gauge_period_s = 1\nrate_variation_percent = 50\n"

static void open_world(struct world *world, const char *text, double percent)
{
        char path[] = "/tmp/joulecast-physics-XXXXXX.ini";
        int fd = mkstemps(path, 4);

        check_int(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
        check_int(world_open(world, path, 0, 1, percent, &log_all), 0);
        unlink(path);
        if (!world->source)
                exit(1);
}

static double component(const cJSON *truth, const char *a, const char *b, const char *c)
{
        const cJSON *json = cJSON_GetObjectItemCaseSensitive(truth, "components_j");

        json = cJSON_GetObjectItemCaseSensitive(json, a);
        json = b ? cJSON_GetObjectItemCaseSensitive(json, b) : json;
        json = c ? cJSON_GetObjectItemCaseSensitive(json, c) : json;
        return cJSON_IsNumber(json) ? json->valuedouble : NAN;
}

static double number(const cJSON *json, const char *name)
{
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, name);

        return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static void test_world(void)
{
        struct world_load load = {
                .busy = { 0.5, 1 }, .khz = { 800000, 2400000 },
                .level_percent = 100, .screen_on = true, .wifi_on = true,
                .read_bytes = 2000000, .tx_bytes = 1000000, .wakes = 3,
        };
        struct world world;
        const cJSON *json_opps;
        cJSON *json;

        open_world(&world, PLAIN, 50);
        check_near(world.factor, 10, 0);
        check_int(world_max_khz(&world, 1), 2400000);
        for (unsigned i = 0; i < 100; i++) {
                check_int(world_step(&world, 0.02, &load), 0);
                load.read_bytes = load.tx_bytes = load.wakes = 0;
        }
        json = world_truth(&world); /* two seconds of the phone's, at ten times the energy */
        check_near(component(json, "cpu", "0", "800000"), 0.5 * 0.2 * 20, 1e-6);
        check_near(component(json, "cpu", "1", "2400000"), (1.1 + 0.02) * 20, 1e-6);
        check_near(component(json, "display", NULL, NULL), 1.1 * 20, 1e-6);
        check_near(component(json, "disk", "read", NULL), 2 * 0.006 * 10, 1e-6);
        check_near(component(json, "wifi", "tx", NULL), 0.55 * 10, 1e-6);
        check_near(component(json, "wifi", "wake", NULL), 3 * 0.12 * 10, 1e-6);
        check_near(number(json, "base_j"), (0.1 + 0.03) * 20, 1e-6);
        check_near(number(json, "percent"), 50 - number(json, "total_j") / 360, 1e-6);
        check_near(number(json, "elapsed_s"), 2, 1e-9);
        json_opps = cJSON_GetObjectItemCaseSensitive(json, "opps");
        check_int(cJSON_GetArraySize(json_opps), 4);
        check_near(number(cJSON_GetArrayItem(json_opps, 0), "time_s"), 2, 1e-9);
        check_near(number(cJSON_GetArrayItem(json_opps, 0), "busy_s"), 1, 1e-6);
        check_near(number(cJSON_GetArrayItem(json_opps, 2), "time_s"), 0, 0);
        check_near(number(cJSON_GetArrayItem(json_opps, 3), "busy_s"), 2, 1e-6);
        check_near(world.sample.battery.power_uw / 1e6, 0.1 + 1.1 + 1.12 + 0.1 + 0.03, 1e-3);
        cJSON_Delete(json);
        check_int(world_mark(&world), 0);
        json = world_truth(&world);
        check_near(number(json, "total_j"), 0, 0);
        cJSON_Delete(json);
        json = world_coefficients(&world);
        check_near(number(json, "base.power_mw"), 1000, 1e-6);
        check_near(number(json, "cpu.1.one_mw.2400000"), 11200, 1e-6);
        check_near(number(json, "display.power_mw.10"), 11000, 1e-6);
        cJSON_Delete(json);
        load.write_bytes = 300000000; /* QEMU reports disk bytes late, and then all at once */
        check_int(world_step(&world, 0.02, &load), 0);
        json = world_truth(&world);
        check_near(number(json, "write_bytes"), 300000000, 0);
        cJSON_Delete(json);
        check_int(world_mark(&world), 0);
        load.write_bytes = 0;
        load.khz[0] = 1000000; /* a frequency that the device lacks counts as the next higher one */
        check_int(world_step(&world, 0.02, &load), 0);
        json = world_truth(&world);
        check_near(component(json, "cpu", "0", "2400000"), 0.5 * 0.9 * 0.2, 1e-6);
        cJSON_Delete(json);
        check_int(world_mark(&world), 0);
        load.asleep = true; /* a minute at 15 mW, at ten times the energy */
        check_int(world_step(&world, 60, &load), 0);
        json = world_truth(&world);
        check_near(number(json, "total_j"), 0.015 * 600, 1e-6);
        check(isnan(component(json, "cpu", "0", "2400000")));
        cJSON_Delete(json);
        world_close(&world);
}

/* A fake QEMU with 64 words and some I/O ports, for the registers. */
struct fake {
        int fd;
        uint32_t words[64];
        uint8_t ports[0x400];
        unsigned interrupts;
};

static void answer(struct fake *fake, const char *line)
{
        unsigned long long where, value = 0;
        char verb[16], text[64] = "FAIL\n";
        int n = sscanf(line, "%15s %llx %llx", verb, &where, &value);

        if (n == 2 && strcmp(verb, "inb") == 0)
                snprintf(text, sizeof(text), "OK 0x%02x\n", fake->ports[where & 0x3ff]);
        if (n == 2 && strcmp(verb, "readl") == 0)
                snprintf(text, sizeof(text), "OK 0x%016x\n", fake->words[where / 4 & 63]);
        if (n == 3 && strcmp(verb, "writel") == 0) {
                fake->words[where / 4 & 63] = (uint32_t)value;
                snprintf(text, sizeof(text), "OK\n");
        }
        if (n == 3 && strcmp(verb, "outb") == 0) {
                fake->interrupts += where == 0x2005 && value == 1;
                snprintf(text, sizeof(text), "OK\n");
        }
        check_int(write(fake->fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void *serve(void *data)
{
        struct fake *fake = data;
        FILE *file = fdopen(dup(fake->fd), "r");
        char line[128];

        while (fgets(line, sizeof(line), file))
                answer(fake, line);
        fclose(file);
        return NULL;
}

static void check_registers(struct registers *registers, struct world *world, struct fake *fake)
{
        struct phone_look look;

        check_int(fake->words[REG_REMAINING], 5000);
        check_int(fake->words[REG_FULL], 10000);
        check_int(fake->words[REG_STATE], 1);
        check_int(fake->words[REG_VOLTAGE], REG_UNKNOWN);
        check_int(fake->words[REG_RATE], 1000); /* base, ten times */
        check_int(fake->interrupts, 0);
        fake->ports[0xe1] = 0x18;
        fake->words[REG_BACKLIGHT] = 40;
        check_int(registers_look(registers, 2, &look), 0);
        check_int(look.p_state[1], 0x18);
        check_int(look.backlight, 40);
        check_int(look.sleep, 0);
        fake->words[REG_SLEEP] = 3;
        check_int(registers_look(registers, 2, &look), 0);
        check_int(look.sleep, 3);
        check_int(virtual_set_percent(world->device, 41.9), 0);
        check_int(world_step(world, 0.02, &(struct world_load){ 0 }), 0);
        check_int(registers_show(registers, world), 0);
        check_int(fake->words[REG_REMAINING], 4100);
        check_int(fake->words[REG_EVENTS], EVENT_BATTERY);
        check_int(fake->interrupts, 1);
        registers->fault = GAUGE_MISSING;
        check_int(registers_show(registers, world), 0);
        check_int(fake->words[REG_REMAINING], REG_UNKNOWN);
        check_int(fake->interrupts, 1);
}

static void test_control(struct physics *physics, struct fake *fake)
{
        static const struct {
                const char *command, *answer;
        } cases[] = {
                { "pear", "{\"error\":\"a command is a JSON line with cmd\"}" },
                { "{\"cmd\": \"pear\"}", "{\"error\":\"no such command\"}" },
                { "{\"cmd\": \"set\", \"charger\": true, \"gauge\": \"works\"}", "{}" },
                { "{\"cmd\": \"set\", \"gauge\": \"pear\"}", "{\"error\":\"no such setting, or no value for it\"}" },
                { "{\"cmd\": \"set\", \"registers\": {\"BVOL\": 3800}}", "{}" },
                { "{\"cmd\": \"set\", \"registers\": {\"PEAR\": 3800}}",
                  "{\"error\":\"no such setting, or no value for it\"}" },
                { "{\"cmd\": \"set\", \"ppc\": 2}", "{}" },
                { "{\"cmd\": \"sleep\", \"seconds\": 60}", "{\"error\":\"the phone is awake\"}" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ char *text = control_answer(physics, cases[i].command);

                check(strcmp(text, cases[i].answer) == 0);
        }
        check_int(world_step(&physics->world, 0.02, &(struct world_load){ 0 }), 0);
        check_int(registers_show(&physics->registers, &physics->world), 0);
        check_int(fake->words[REG_ONLINE], 1);
        check_int(fake->words[REG_STATE], 2);
        check_int(fake->words[REG_VOLTAGE], 3800);
        check_int(fake->words[REG_LIMIT], 2);
        check_int(fake->words[REG_EVENTS] & (EVENT_CHARGER | EVENT_LIMIT), EVENT_CHARGER | EVENT_LIMIT);
        free(control_answer(physics, "{\"cmd\": \"set\", \"ppc\": null}"));
        check_int(registers_show(&physics->registers, &physics->world), 0);
        check_int(fake->words[REG_LIMIT], 0);
}

/* 10 Wh at a mean of 4 V are 2500 mAh; a watt there is 250 mA, ten times that for the phone. */
static void test_charge(struct qtest *qtest, struct fake *fake)
{
        static const char curve[] = PLAIN "voltage_mv.0 = 4000\nvoltage_mv.100 = 4000\n";
        struct registers registers;
        struct world world;

        memset(fake->words, 0, sizeof(fake->words));
        open_world(&world, curve, 50.5);
        check_int(registers_open(&registers, qtest, &world, true), 0);
        check_int(fake->words[REG_UNIT], 1);
        check_int(fake->words[REG_FULL], 2500);
        check_int(fake->words[REG_REMAINING], 1250);
        check_int(fake->words[REG_VOLTAGE], 4000);
        check_int(fake->words[REG_RATE], 250);
        world_close(&world);
}

static void test_rtc(void)
{
        static const uint64_t shown[RTC_REGISTERS] = { 0x59, 0x30, 0x23, 0x28, 0x02, 0x24, 0x20 };
        static const uint64_t bad[RTC_REGISTERS] = { 0x59, 0x30, 0x23, 0x2a, 0x02, 0x24, 0x20 };
        uint8_t set[RTC_REGISTERS];
        int64_t seconds;

        check_int(rtc_parse(shown, &seconds), 0);
        check_int(seconds, 1709163059); /* 2024-02-28T23:30:59Z; that year has a 29th */
        rtc_print(seconds + 8 * 3600, set);
        for (size_t i = 0; i < RTC_REGISTERS; i++)
                check_int(set[i], ((const uint8_t[]){ 0x59, 0x30, 0x07, 0x29, 0x02, 0x24, 0x20 })[i]);
        check_int(rtc_parse(bad, &seconds), -EPROTO);
}

static void test_registers(void)
{
        struct fake fake = { 0 };
        struct physics physics = { 0 };
        pthread_t thread;
        int pair[2];

        check_int(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        fake.fd = pair[1];
        physics.qtest.fd = pair[0];
        check_int(pthread_create(&thread, NULL, serve, &fake), 0);
        open_world(&physics.world, PLAIN, 50.5);
        check_int(registers_open(&physics.registers, &physics.qtest, &physics.world, false), 0);
        check_registers(&physics.registers, &physics.world, &fake);
        test_control(&physics, &fake);
        test_charge(&physics.qtest, &fake);
        shutdown(pair[0], SHUT_WR);
        pthread_join(thread, NULL);
        close(fake.fd);
        check_int(registers_look(&physics.registers, 1, &(struct phone_look){ 0 }), -EPIPE);
        qtest_close(&physics.qtest);
        world_close(&physics.world);
}

int main(void)
{
        test_qtest();
        test_vcpu();
        test_radio();
        test_blocks();
        test_world();
        test_rtc();
        test_registers();
        return check_result();
}
