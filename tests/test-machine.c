/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Reads a device's files with all sources, and compares the result with the golden text beside the tree.
 * JOULECAST_UPDATE_GOLDEN=1 writes that text anew; then read the difference.
 */

#include "check.h"
#include "machine/machine.h"
#include "model/usage.h"
#include "tree.h"
#include "util/units.h"
#include "util/util.h"

struct output {
        FILE *file;
};

static void print_log(void *data, enum log_level level, const char *sentence)
{
        struct output *output = data;

        fprintf(output->file, "log %d: %s\n", (int)level, sentence);
}

static void print_number(FILE *file, bool known, const char *name, uint64_t value)
{
        if (known)
                fprintf(file, " %s %llu", name, (unsigned long long)value);
}

static void print_battery(FILE *file, const struct battery *battery)
{
        fprintf(file, "battery: status %d", (int)battery->status);
        print_number(file, battery->have & BATTERY_CAPACITY, "percent", battery->capacity_percent);
        print_number(file, battery->have & BATTERY_CHARGE_NOW, "charge_now_uah", battery->charge_now_uah);
        print_number(file, battery->have & BATTERY_CHARGE_FULL, "charge_full_uah", battery->charge_full_uah);
        print_number(file, battery->have & BATTERY_ENERGY_NOW, "energy_now_uwh", battery->energy_now_uwh);
        print_number(file, battery->have & BATTERY_ENERGY_FULL, "energy_full_uwh", battery->energy_full_uwh);
        print_number(file, battery->have & BATTERY_VOLTAGE, "voltage_uv", battery->voltage_uv);
        print_number(file, battery->have & BATTERY_POWER, "power_uw", battery->power_uw);
        print_number(file, battery->have & BATTERY_TEMPERATURE, "temperature_dc",
                     (uint64_t)battery->temperature_dc);
        fputc('\n', file);
}

static void print_process(FILE *file, const struct process *process)
{
        char comm[64];

        fprintf(file, "process %d: app \"%s\" comm \"%s\" uid %u cpu_ns %llu start %llu", (int)process->pid,
                process->app, util_printable(process->comm, comm, sizeof(comm)), process->uid,
                (unsigned long long)process->cpu_ns, (unsigned long long)process->start_time);
        print_number(file, process->have & USAGE_DISK, "read", process->read_bytes);
        print_number(file, process->have & USAGE_DISK, "write", process->write_bytes);
        fputc('\n', file);
}

static void print_sample(FILE *file, const struct sample *sample)
{
        fprintf(file, "have %#x, boot %s\n", sample->have, sample->boot_id);
        if (sample->have & SAMPLE_BATTERY)
                print_battery(file, &sample->battery);
        for (size_t i = 0; i < sample->n_opps; i++) {
                const struct opp *opp = &sample->opps[i];
                bool clock = opp->khz == KHZ_UNKNOWN && opp->time_ns == sample->monotonic_ns;

                fprintf(file, "opp %u/%u: ", opp->policy, opp->khz);
                fprintf(file, clock ? "all the time\n" : "%llu ns\n", (unsigned long long)opp->time_ns);
        }
        for (size_t i = 0; i < sample->n_cores; i++)
                fprintf(file, "core %u of policy %u: busy %llu ns\n", sample->cores[i].cpu,
                        sample->cores[i].policy, (unsigned long long)sample->cores[i].busy_ns);
        fprintf(file, "disk: read %llu write %llu\n", (unsigned long long)sample->read_bytes,
                (unsigned long long)sample->write_bytes);
        fprintf(file, "wifi: %s rx %llu tx %llu; other: rx %llu tx %llu\n", sample->wifi_on ? "on" : "off",
                (unsigned long long)sample->wifi_rx_bytes, (unsigned long long)sample->wifi_tx_bytes,
                (unsigned long long)sample->other_rx_bytes, (unsigned long long)sample->other_tx_bytes);
        if (sample->have & USAGE_BLUETOOTH)
                fprintf(file, "bluetooth: %s\n", sample->bluetooth_on ? "connected" : "idle");
        if (sample->signal.have & SIGNAL_WIFI)
                fprintf(file, "wifi signal: %d dBm\n", sample->signal.wifi_signal_dbm);
        fprintf(file, "screen: %s %s %u\n", sample->screen.screen_known ? "known" : "unknown",
                sample->screen.screen_on ? "on" : "off", sample->screen.brightness);
        for (size_t i = 0; i < sample->n_processes; i++)
                print_process(file, &sample->processes[i]);
}

static char *look(const char *dir)
{
        char *text = NULL;
        size_t size;
        struct output output = { open_memstream(&text, &size) };
        const struct log log = { print_log, &output };
        const struct machine_options options = { .root = dir, .log = &log };
        struct sources sources = { 0 };
        struct sample sample = { 0 };

        check_int(machine_open(&options, &sources), 0);
        check_int(sources_read(&sources, &sample), 0);
        print_sample(output.file, &sample);
        check_int(sources_read(&sources, &sample), 0); /* a second look reports nothing twice, and finds the same */
        fclose(output.file);
        sources_close(&sources);
        sample_clear(&sample);
        return text;
}

static void compare(const char *golden, const char *text)
{
        _cleanup_fclose_ FILE *file = fopen(golden, "re");
        _cleanup_free_ char *line = NULL;
        size_t capacity = 0;

        check(file != NULL);
        while (file && getline(&line, &capacity, file) > 0) {
                size_t length = strcspn(text, "\n");

                if (*line == '#')
                        continue;
                line[strcspn(line, "\n")] = '\0';
                check(strlen(line) == length && memcmp(line, text, length) == 0);
                if (strlen(line) != length || memcmp(line, text, length) != 0)
                        fprintf(stderr, "  got  %.*s\n  want %s\n", (int)length, text, line);
                text += length + (text[length] == '\n');
        }
        check_text(text, "");
}

static void update(const char *golden, const char *text)
{
        _cleanup_fclose_ FILE *file = fopen(golden, "we");

        if (file)
                fprintf(file, "# SPDX-FileCopyrightText: joulecast authors\n"
                              "# SPDX-License-Identifier: LGPL-2.1-or-later\n%s",
                        text);
}

int main(int argc, char **argv)
{
        char dir[64], golden[512];
        _cleanup_free_ char *text = NULL;
        const char *end = argc > 1 ? strrchr(argv[1], '.') : NULL;

        if (!end || !tree_unpack(argv[1], dir, sizeof(dir))) {
                fprintf(stderr, "usage: test-machine NAME.tree\n");
                return 2;
        }
        text = look(dir);
        snprintf(golden, sizeof(golden), "%.*s.golden", (int)(end - argv[1]), argv[1]);
        if (getenv("JOULECAST_UPDATE_GOLDEN"))
                update(golden, text);
        compare(golden, text);
        tree_remove(dir);
        return check_result();
}
