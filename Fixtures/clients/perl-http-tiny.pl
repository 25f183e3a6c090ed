# HTTP::Tiny, which comes with Perl. With TLS it needs IO::Socket::SSL.
use strict;
use warnings;
use HTTP::Tiny;
use IO::Socket::INET;
use IO::Socket::IP;
use JSON::PP;

delete $ENV{$_} for grep { /_proxy$/i || /^(?:SSL_CERT_(?:FILE|DIR))$/ } keys %ENV;

# Where the job connects for a host and port: sockets are made to its address, and all else keeps the name.
my %routes;
for my $class (qw(IO::Socket::IP IO::Socket::INET)) {
    no strict 'refs';
    no warnings 'redefine';
    my $right = $class->can('new');
    *{"${class}::new"} = sub {
        my ($self, %options) = @_;
        return $right->($self, %options) unless defined $options{PeerHost};
        (my $host = lc $options{PeerHost}) =~ s/^\[|\]$|\.$//g;
        my $targets = $routes{"$host:$options{PeerPort}"};
        if (!$targets) { $@ = "$host:$options{PeerPort} is not in the job"; return }
        for my $target (@$targets) {
            my ($address, $port) = $target =~ /^\[?(.*?)\]?:(\d+)$/;
            my $socket = $right->($self, %options, PeerHost => $address, PeerPort => $port);
            return $socket if $socket;
        }
        return;
    };
}

sub leave { die { left => shift } }

sub open_client {
    my ($job) = @_;
    my $settings = $job->{settings} // {};
    for my $name (keys %$settings) {
        leave("it has no setting like `$name`") unless grep { $_ eq $name } qw(addresses follow redirects resume);
    }
    for my $name (keys %{ $settings->{redirects} // {} }) {
        leave("it has no setting for redirects like `$name`") unless $name eq 'downgrade';
    }
    for my $name (@{ $job->{keep} // [] }) {
        leave("it keeps no $name") unless $name eq 'connections';
    }
    leave('its clock cannot be set') if exists $job->{time};
    %routes = ();
    for my $endpoint (keys %{ $job->{connect} }) {
        my ($host, $port) = $endpoint =~ /^\[?(.*?)\]?:(\d+)$/;
        $host =~ s/\.$//;
        $routes{ lc($host) . ":$port" } = $job->{connect}{$endpoint};
    }
    return HTTP::Tiny->new(
        timeout      => $job->{timeout} / 1000,
        SSL_options  => { SSL_ca_file => $job->{roots} },
        keep_alive   => (grep { $_ eq 'connections' } @{ $job->{keep} // [] }) ? 1 : 0,
        max_redirect => $settings->{follow} ? 5 : 0,
    );
}

sub answer {
    my ($client, $job, $request) = @_;
    leave('it switches to no other protocol') if $request->{upgrade};
    my %headers;
    push @{ $headers{ $_->[0] } }, $_->[1] for @{ $request->{headers} // [] };
    my %options = (headers => { map { $_ => @{ $headers{$_} } > 1 ? $headers{$_} : $headers{$_}[0] } keys %headers });
    if (exists $request->{body}) {
        my @parts = ($request->{body});
        $options{content} = $request->{stream} ? sub { shift @parts } : $request->{body};
    }
    local $SIG{ALRM} = sub { die "the time of the request is over\n" };
    alarm(($job->{timeout} + 999) / 1000);
    my $found = eval { $client->request($request->{method} // 'GET', $request->{url}, \%options) };
    my $fault = $@;
    alarm 0;
    return failed($fault) unless $found;
    return failed($found->{content}) if $found->{status} == 599;
    my @fields = map {
        my ($name, $value) = ($_, $found->{headers}{$_});
        map { [$name, $_] } ref $value ? @$value : $value
    } sort keys %{ $found->{headers} };
    my $version = ($found->{protocol} // '') =~ m{^HTTP/(\d\.\d)$} ? $1 : undef;
    return {
        status => $found->{status} + 0, headers => \@fields, body => $found->{content} // '', url => $found->{url},
        (defined $found->{reason} ? (reason => $found->{reason}) : ()), ($version ? (version => $version) : ()),
    };
}

sub failed {
    my ($text) = @_;
    chomp $text;
    my $kind = $text =~ /time of the request|Timed out/ ? 'timeout' : $text =~ /Connection refused/ ? 'refused' : undef;
    return { error => { text => $text, ($kind ? (kind => $kind) : ()) } };
}

my $json = JSON::PP->new->utf8->canonical;
open my $output, '>&', \*STDOUT or die $!;
open STDOUT, '>&', \*STDERR or die $!;
$output->autoflush(1);
print $output $json->encode({ contract => 1, name => 'HTTP::Tiny', version => "$HTTP::Tiny::VERSION", codings => [] }), "\n";
while (my $line = <STDIN>) {
    my $job = $json->decode($line);
    my $reply = eval {
        my $client = open_client($job);
        { results => [map { answer($client, $job, $_) } @{ $job->{requests} }] };
    };
    $reply //= ref $@ ? { left => $@->{left} } : { broken => "$@" };
    print $output $json->encode({ id => $job->{id}, %$reply }), "\n";
}
