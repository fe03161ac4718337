/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

const struct log program_log = { .handler = log_to_stderr, .data = (void *)"joulecast" };

#define HELP_COLUMN 27 /* "--start-percent PERCENT" fits before it */
#define HELP_WIDTH 80

static void print_row(const struct option_row *row)
{
        int column = printf("  --%s%s%s", row->name, row->argument ? " " : "",
                            row->argument ? row->argument : "");
        const char *gap = "";

        column += printf("%*s", MAX(HELP_COLUMN - column, 1), "");
        for (const char *word = row->help; *word; word += strspn(word, " ")) {
                int length = (int)strcspn(word, " ");

                if (column + 1 + length > HELP_WIDTH) {
                        printf("\n%*s", HELP_COLUMN, "");
                        column = HELP_COLUMN;
                        gap = "";
                }
                column += printf("%s%.*s", gap, length, word);
                gap = " ";
                word += length;
        }
        putchar('\n');
}

static void print_help(const struct command *command, const struct option_row *shared, size_t n_shared)
{
        printf("Usage: joulecast %s%s%s\n\n%s\n\n", command->name, *command->arguments ? " " : "",
               command->arguments, command->help);
        if (command->n_rows > 0)
                printf("Options:\n");
        for (size_t i = 0; i < command->n_rows; i++)
                print_row(&command->rows[i]);
        printf("%sShared options:\n", command->n_rows > 0 ? "\n" : "");
        for (size_t i = 0; i < n_shared; i++)
                if (command->shared & 1u << i)
                        print_row(&shared[i]);
        print_row(&(struct option_row){ .name = "help", .help = "show this" });
        printf("\nExit: 0 done; 1 it failed; 2 wrong usage; 3 no data to answer from.\n");
}

static bool mistake(const struct command *command, int *exit_code, const char *what, const char *detail)
{
        char printable[128];

        log_error(&program_log, "%s: %s%s%s (joulecast %s --help tells more)", command->name, what,
                  detail ? " " : "", detail ? util_printable(detail, printable, sizeof(printable)) : "",
                  command->name);
        *exit_code = CODE_USAGE;
        return false;
}

static const struct option_row *find_row(const struct option_row *rows, size_t n, const char *name,
                                         size_t length)
{
        for (size_t i = 0; i < n; i++) {
                if (strlen(rows[i].name) == length && strncmp(rows[i].name, name, length) == 0)
                        return &rows[i];
        }
        return NULL;
}

/* A value that is well said and out of range, one too many, or one of another form. */
static bool mistaken_value(const struct command *command, int *exit_code, const struct option_row *row,
                           const char *value, int err)
{
        char what[128];

        if (err == -ERANGE)
                snprintf(what, sizeof(what), "--%s takes %s, not", row->name,
                         row->range ? row->range : "at most 18446744073709551615");
        else
                snprintf(what, sizeof(what), "--%s wants %s%s", row->name, row->wants,
                         err == -E2BIG ? "; one too many is" : ", not");
        return mistake(command, exit_code, what, value);
}

/* Applies one "--name[=value]" at argv[*at]; may take the next argument as its value. */
static bool apply(const struct command *command, const struct option_row *shared, size_t n_shared, int argc,
                  char **argv, int *at, int *exit_code)
{
        const char *name = argv[*at] + 2, *equals = strchr(name, '='), *value = equals ? equals + 1 : NULL;
        size_t length = equals ? (size_t)(equals - name) : strlen(name);
        const struct option_row *row = find_row(command->rows, command->n_rows, name, length);
        int err;

        if (!row)
                row = find_row(shared, n_shared, name, length);
        if (!row)
                return mistake(command, exit_code, "there is no option", argv[*at]);
        if (!row->argument) {
                if (equals)
                        return mistake(command, exit_code, "this option takes no value:", argv[*at]);
                *row->flag = true;
                return true;
        }
        if (!value) {
                if (*at + 1 >= argc)
                        return mistake(command, exit_code, "a value is missing after", argv[*at]);
                value = argv[++*at];
        }
        if (!*value) {
                char what[64];

                snprintf(what, sizeof(what), "--%s has an empty value", row->name);
                return mistake(command, exit_code, what, NULL);
        }
        if (row->text) {
                *row->text = value;
                return true;
        }
        err = row->parse(row->data, value);
        return err < 0 ? mistaken_value(command, exit_code, row, value, err) : true;
}

bool options_parse(const struct command *command, int argc, char **argv, struct options *options,
                   const char **positional, int *exit_code)
{
        const struct option_row shared[] = { /* in the order of enum shared_option */
                { "device", "virtual:NAME", "a virtual device, by name or file, not this machine",
                  .text = &options->device },
                { "profile", "FILE", "the power model; or the name of a shipped one", .text = &options->profile },
                { "database", "FILE", "what apps used", .text = &options->database },
                { "observations", "FILE", "what calibration saw", .text = &options->observations },
                { "machine", "DIR", "read DIR/sys and DIR/proc instead of /", .text = &options->machine },
                { "json", NULL, "answer in JSON", .flag = &options->json },
                { "yes", NULL, "do not ask", .flag = &options->yes },
        };
        size_t n_positional = 0;
        bool only_positional = false;

        for (int i = 1; i < argc; i++) {
                if (only_positional || argv[i][0] != '-' || !argv[i][1]) {
                        if (n_positional == command->max_positional)
                                return mistake(command, exit_code, "what is", argv[i]);
                        positional[n_positional++] = argv[i];
                } else if (strcmp(argv[i], "--") == 0) {
                        only_positional = true;
                } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
                        print_help(command, shared, ARRAY_SIZE(shared));
                        *exit_code = CODE_OK;
                        return false;
                } else if (strncmp(argv[i], "--", 2) != 0) {
                        return mistake(command, exit_code, "there is no option", argv[i]);
                } else if (!apply(command, shared, ARRAY_SIZE(shared), argc, argv, &i, exit_code)) {
                        return false;
                }
        }
        return true;
}
