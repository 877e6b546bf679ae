// Loads a compose file by the compose specification's own loader, strictly, and prints the project as it stands then.
//
//	compose <file> [profile ...]
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: compose <file> [profile ...]")
	}
	options, err := cli.NewProjectOptions(
		args[:1],
		cli.WithWorkingDirectory(filepath.Dir(args[0])),
		cli.WithOsEnv,
		cli.WithProfiles(args[1:]),
		cli.WithInterpolation(true),
		cli.WithNormalization(true),
		cli.WithConsistency(true),
		cli.WithResolvedPaths(true),
	)
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return err
	}
	text, err := project.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(text, '\n'))
	return err
}
